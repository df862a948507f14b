// Messages through memory that two ranks share; see docs/modules/distributed.md.
#pragma once

#include "occl_operation.h"
#include "occl_rendezvous.h"

namespace openreg::occl {

// Sends and receives all messages of a group at the same time. Throws Failure.
void run_messages(SharedMemoryRendezvous& memory, Operation& operation);

// "this rank sends 12 bytes of float32, rank 1 expects 8 bytes of float32"
std::string describe_misfit(const Call& call, int peer, uint64_t bytes, int dtype);

}  // namespace openreg::occl
