// Stacks of Python calls, as torch's tools read them; see docs/runtime/memory.md.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>
#include <torch/csrc/utils/pybind.h>

#include <memory>
#include <unordered_map>
#include <vector>

namespace openreg {

namespace py = pybind11;
using Context = std::shared_ptr<c10::GatheredContext>;

// Turns stacks into lists of {"name", "filename", "line"}; all at once, because one
// frame is in many stacks and looking its name up is slow.
class Frames {
 public:
  void add(const Context& context) {
    auto* stack = dynamic_cast<torch::CapturedTraceback*>(context.get());
    if (stack != nullptr && index_.emplace(stack, stacks_.size()).second) {
      stacks_.push_back(stack);
    }
  }

  void look_up() {
    symbols_ = torch::symbolize(stacks_);
    for (const auto& frame : symbols_.all_frames) {
      py::dict entry;
      entry["name"] = frame.funcname;
      entry["filename"] = frame.filename;
      entry["line"] = frame.lineno;
      frames_.push_back(entry);
    }
  }

  py::list of(const Context& context) const {
    py::list result;
    const auto at = index_.find(dynamic_cast<torch::CapturedTraceback*>(context.get()));
    if (at != index_.end()) {
      for (const uint64_t frame : symbols_.tracebacks.at(at->second)) {
        result.append(frames_.at(frame));
      }
    }
    return result;
  }

 private:
  std::vector<torch::CapturedTraceback*> stacks_;
  std::unordered_map<torch::CapturedTraceback*, size_t> index_;
  torch::SymbolizedTracebacks symbols_;
  std::vector<py::dict> frames_;
};

}  // namespace openreg
