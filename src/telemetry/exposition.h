// Exposition: what clients have said, in Prometheus' text format.
//
// source: Prometheus' text format 0.0.4
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "telemetry/client_metrics.h"

namespace thalweg::telemetry {

// The series of all clients, family by family, and `kafka_client_info` with what each says of itself. Where clients
// mean different kinds of things by one name, those whose labels come later are left out; no series stands there twice.
std::string print_clients(std::vector<std::shared_ptr<const ClientReport>> reports);

}  // namespace thalweg::telemetry
