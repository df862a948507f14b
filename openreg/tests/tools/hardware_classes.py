# Tests of PyTorch's classes of hardware, for torch 2.15; see docs/ship/testing.md.
"""Run it as PyTorch's own test files are run, with the declaration of the device:

TORCH_TEST_DEVICES=openreg_test_base.py python hardware_classes.py -v \
    --hw-classification ACCELERATOR
"""

import torch
import torch.distributed as dist
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.testing._internal.common_device_type import (
    Capability,
    instantiate_device_type_tests,
    requires_capabilities,
)
from torch.testing._internal.common_distributed import requires_accelerator_dist_backend
from torch.testing._internal.common_utils import (
    HardwareClassification,
    TestCase,
    run_tests,
)


class TestNames(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_index_of_a_device(self):
        self.assertEqual(torch.device("cpu:1").index, 1)


# LITERALINCLUDE START: HARDWARE_CLASS
class TestSums(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR  # (1)

    def test_sum(self, device):
        self.assertEqual(torch.ones(3, device=device).sum(), 3)

    @requires_capabilities(Capability.dtype.bf16)  # (2)
    def test_sum_of_bfloat16(self, device):
        x = torch.ones(3, device=device, dtype=torch.bfloat16)
        self.assertEqual(x.sum(), 3)

    @requires_capabilities(Capability.attention.flash_attention)
    def test_flash_attention(self, device):
        x = torch.ones(1, 2, 16, 8, device=device)
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            self.assertEqual(scaled_dot_product_attention(x, x, x), x)


instantiate_device_type_tests(TestSums, globals(), except_for="cpu")
# LITERALINCLUDE END: HARDWARE_CLASS


class TestGroups(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def _sum_of_one_rank(self, device):
        backend = dist.get_default_backend_for_device(device)
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
        try:
            x = torch.ones(2, device=device)
            dist.all_reduce(x)
            self.assertEqual(x, torch.ones(2))
        finally:
            dist.destroy_process_group()

    def test_any_backend(self, device):
        self._sum_of_one_rank(device)

    @requires_accelerator_dist_backend(["xccl", "hccl"])
    def test_listed_backend(self, device):
        self._sum_of_one_rank(device)


instantiate_device_type_tests(TestGroups, globals(), except_for="cpu")


class TestHost(TestCase):
    hw_classification = HardwareClassification.CPU

    def test_storage(self, device):
        self.assertNotEqual(torch.ones(1, device=device).data_ptr(), 0)


instantiate_device_type_tests(TestHost, globals(), only_for="cpu")


class TestWithoutClass(TestCase):
    def test_addition(self):
        self.assertEqual(torch.ones(1) + 1, torch.full((1,), 2.0))


if __name__ == "__main__":
    run_tests()
