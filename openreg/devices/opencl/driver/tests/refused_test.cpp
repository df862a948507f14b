// What OpenCL lacks is an error with a reason, and changes nothing;
// see docs/opencl/driver.md.
#include "openreg_activity.h"
#include "openreg_graph.h"
#include "openreg_ipc.h"
#include "support.h"

namespace openreg_test {
namespace {

class RefusedTest : public DriverTest {};

TEST_F(RefusedTest, Captures) {
  Stream stream;
  EXPECT_FAILS(orStreamBeginCapture(stream, orStreamCaptureModeGlobal),
               orErrorNotSupported, "does not capture");
  int capturing = 1;
  uint64_t id = 1;
  ASSERT_OK(orStreamGetCaptureInfo(stream, &capturing, &id));
  EXPECT_EQ(capturing, 0);
  EXPECT_EQ(id, 0u);
  orGraphExec_t exec = nullptr;
  EXPECT_FAILS(orGraphInstantiate(&exec, nullptr), orErrorNotSupported, "OpenCL");
  EXPECT_FAILS(orGraphLaunch(exec, stream), orErrorNotSupported, "OpenCL");
  EXPECT_OK(orStreamSynchronize(stream));
}

TEST_F(RefusedTest, CaptureModeOfAThreadIsKept) {
  orStreamCaptureMode mode = orStreamCaptureModeRelaxed;
  ASSERT_OK(orThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, orStreamCaptureModeGlobal);
  ASSERT_OK(orThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, orStreamCaptureModeRelaxed);
}

TEST_F(RefusedTest, MemoryOfOtherProcesses) {
  DeviceMemory memory(64);
  orIpcMemHandle_t handle = {};
  EXPECT_FAILS(orIpcGetMemHandle(&handle, memory.get()), orErrorNotSupported,
               "send CPU tensors");
}

TEST_F(RefusedTest, RecordsOfActivities) {
  EXPECT_FAILS(orActivityStart(nullptr, nullptr, nullptr), orErrorNotSupported,
               "no record");
  size_t unfinished = 0;
  EXPECT_FAILS(orActivityStop(&unfinished), orErrorInvalidValue, "no record");
}

TEST_F(RefusedTest, DelaysAndFailuresToOrder) {
  EXPECT_FAILS(orSimSetDelay(5, 0), orErrorNotSupported, "orSimHold");
  EXPECT_FAILS(orSimFailAllocation(1), orErrorNotSupported, "orSimHold");
  EXPECT_OK(orSimSetDelay(0, 0));
  Stream stream;
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(orSimReset());
  EXPECT_OK(orStreamSynchronize(stream));
}

}  // namespace
}  // namespace openreg_test
