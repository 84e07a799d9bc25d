"""Caffe's Datum for python3-protobuf, described in code, so that protoc is not needed."""
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto


def _datum():
    file = descriptor_pb2.FileDescriptorProto(name="datum.proto", package="caffe", syntax="proto2")
    message = file.message_type.add(name="Datum")
    for name, number, kind in (("channels", 1, FIELD.TYPE_INT32), ("height", 2, FIELD.TYPE_INT32),
                               ("width", 3, FIELD.TYPE_INT32), ("data", 4, FIELD.TYPE_BYTES),
                               ("label", 5, FIELD.TYPE_INT32), ("encoded", 7, FIELD.TYPE_BOOL)):
        message.field.add(name=name, number=number, type=kind, label=FIELD.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName("caffe.Datum")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)


Datum = _datum()
