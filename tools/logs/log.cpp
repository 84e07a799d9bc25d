#include "tools/logs/log.h"

namespace feedrate::tools {

extern const LogKind& mllog_log;
extern const LogKind& tensorboard_log;
extern const LogKind& prometheus_log;

std::span<const LogKind* const> log_kinds() {
  static const LogKind* const rows[] = {&mllog_log, &tensorboard_log, &prometheus_log};
  return rows;
}

}  // namespace feedrate::tools
