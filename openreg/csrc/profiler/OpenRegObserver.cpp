// Rejects the profiler state that only emits ranges; see docs/modules/profiler.md.
#include <c10/util/Exception.h>
#include <torch/csrc/profiler/standalone/privateuse1_observer.h>

namespace openreg {
namespace {

// VENDOR: whether a tool outside of the process shows ranges, as Nsight does
// LITERALINCLUDE START: PROFILER_OBSERVER
// torch calls this through a pointer that it does not check: with nothing registered,
// the process would crash.
void refuse_marks(const torch::profiler::impl::ProfilerConfig&,
                  const std::unordered_set<at::RecordScope>&) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      "openreg: ProfilerState.PRIVATEUSE1 emits ranges for an external profiling tool, "
      "and the device has none. Use torch.profiler.profile()");
}

using torch::profiler::impl::RegisterPRIVATEUSE1Observer;  // the macro needs it
REGISTER_PRIVATEUSE1_OBSERVER(refuse_marks)
// LITERALINCLUDE END: PROFILER_OBSERVER

}  // namespace
}  // namespace openreg
