// Fills a network plug-in of OCCL with Gloo; see docs/modules/distributed.md.
//
// A communication library with its own network does not need this file.
#pragma once

#include <occl.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace openreg {

// `gloo`: a group of the same ranks for CPU tensors. The plug-in keeps it until it is
// closed.
occlNet_t make_gloo_net(c10::intrusive_ptr<c10d::Backend> gloo);

}  // namespace openreg
