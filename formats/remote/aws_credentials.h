#pragma once
// Where AWS's own tools find credentials and the region, in their order: the environment, the shared
// files of a profile, the container's service, the instance's metadata.

#include <string>

#include "formats/remote/aws_signature.h"

namespace feedrate::formats {

/// Looks in all places; anonymous where none has any. Throws Error that names the file or the variable
/// when what is there cannot be used; never tells a secret. Any thread.
AwsCredentials find_aws_credentials();

/// AWS_REGION, AWS_DEFAULT_REGION, the profile's; otherwise us-east-1.
std::string aws_region();

/// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url; empty: that of AWS.
std::string s3_endpoint();

}  // namespace feedrate::formats
