// Graphs: captured tasks that can be run many times. See docs/start/architecture.md.
#pragma once

#include <vector>

#include "openreg.h"
#include "task.h"

namespace openreg::driver {

orError_t createGraph(std::vector<Node> nodes, orGraph_t* graph);

}  // namespace openreg::driver
