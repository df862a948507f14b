# PyTorch's device-generic tests, instantiated for openreg; see docs/ship/testing.md.
"""Run it as PyTorch's own test files are run, with unittest's arguments:

python openreg/tests/tools/device_generic.py TestDeviceOPENREG -v
"""

import copy
import unittest
import warnings

import torch
from sweep.compare import compare
from sweep.mirror import mirror, tensors
from torch.nn.parameter import is_lazy
from torch.testing._internal.common_device_type import (
    OpDTypes,
    PrivateUse1TestBase,
    deviceCountAtLeast,
    dtypes,
    instantiate_device_type_tests,
    onlyCUDA,
    onlyPRIVATEUSE1,
    ops,
)
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db, modules
from torch.testing._internal.common_optimizers import optim_db, optims
from torch.testing._internal.common_utils import TestCase
from torch.testing._internal.opinfo.core import SampleInput


# LITERALINCLUDE START: DEVICE_GENERIC
class TestDevice(TestCase):
    @dtypes(torch.float32, torch.int64)
    def test_add(self, device, dtype):  # (1)
        x = torch.ones(3, dtype=dtype, device=device)
        self.assertEqual(x + x, torch.full((3,), 2, dtype=dtype))
        self.assertEqual((x + x).device, torch.device(device))

    @deviceCountAtLeast(2)
    def test_each_device_has_its_own_stream(self, devices):  # (2)
        streams = [torch.Stream(device=device) for device in devices]
        self.assertEqual([s.device for s in streams], [*map(torch.device, devices)])

    @onlyPRIVATEUSE1
    def test_fallback_counts(self, device):  # (3)
        torch.openreg.reset_fallback_counts()
        torch.ones(3, device=device).sinc()
        self.assertIsInstance(torch.openreg.fallback_counts(), dict)

    @onlyCUDA
    def test_cuda(self, device):
        self.fail("this test is for CUDA")


PrivateUse1TestBase.setUpClass()  # (4)
instantiate_device_type_tests(TestDevice, globals())  # (5)
# LITERALINCLUDE END: DEVICE_GENERIC


# LITERALINCLUDE START: OPERATOR_DATABASE
class TestOperators(TestCase):
    @ops(op_db, dtypes=OpDTypes.any_one)  # (1)
    def test_runs_where_its_arguments_are(self, device, dtype, op):
        for sample in op.sample_inputs(device, dtype):
            result = op(sample.input, *sample.args, **sample.kwargs)
            devices = {str(x.device) for x in tensors(result)}
            self.assertLessEqual(devices, {device})
            break


instantiate_device_type_tests(TestOperators, globals(), only_for="openreg")  # (2)
# LITERALINCLUDE END: OPERATOR_DATABASE


class TestModules(TestCase):
    @modules(module_db, allowed_dtypes=[torch.float32])
    def test_values_and_gradients(self, device, dtype, module_info, training):
        made = module_info.module_inputs_func(
            module_info,
            device="cpu",
            dtype=dtype,
            requires_grad=True,
            training=training,
        )
        for one in made:
            constructor, arguments = one.constructor_input, one.forward_input
            if arguments is None:
                continue
            torch.manual_seed(0)
            module = module_info.module_cls(*constructor.args, **constructor.kwargs)
            module.to(dtype).train(training)
            sample = SampleInput(None, args=arguments.args, kwargs=arguments.kwargs)
            if any(map(is_lazy, module.parameters())):
                self._run(module, mirror(sample, "cpu"))  # draws its parameters
            other = copy.deepcopy(module).to(device)
            expected = self._run(module, mirror(sample, "cpu"))
            actual = self._run(other, mirror(sample, device))
            layers = {type(layer).__name__ for layer in module.modules()}
            values = not (training and any("Dropout" in name for name in layers))
            compare(actual, expected, device=device, values=values, strides=False)

    def _run(self, module, sample):
        result = module(*sample.args, **sample.kwargs)
        outputs = [x for x in tensors(result) if x.requires_grad]
        inputs = tensors((sample.args, sample.kwargs, list(module.parameters())))
        inputs = [x for x in inputs if x.requires_grad]
        if not outputs or not inputs:
            return result
        torch.manual_seed(1)
        weights = [torch.randn(x.shape).to(x.device, x.dtype) for x in outputs]
        grads = torch.autograd.grad(outputs, inputs, weights, allow_unused=True)
        return result, grads, list(module.buffers())


instantiate_device_type_tests(TestModules, globals(), only_for="openreg")


class TestOptimizers(TestCase):
    @optims([info for info in optim_db if not info.only_supports_sparse_grads])
    def test_values_of_parameters(self, device, dtype, optim_info):
        for made in optim_info.optim_inputs_func("cpu"):
            for flag in ("", "foreach", "fused"):
                if flag and flag not in optim_info.supported_impls:
                    continue
                kwargs = {**made.kwargs, **({flag: True} if flag else {})}
                with self.subTest(desc=made.desc, flag=flag):
                    expected = self._run("cpu", optim_info, kwargs)
                    actual = self._run(device, optim_info, kwargs)
                    compare(actual, expected, device=device, values=True, strides=True)

    def _run(self, device, optim_info, kwargs):
        torch.manual_seed(0)
        shapes = [(2, 3), (3, 4)]  # Muon takes matrices only
        params = [torch.nn.Parameter(torch.randn(shape).to(device)) for shape in shapes]
        optimizer = optim_info.optim_cls(params, **kwargs)

        def closure():
            for param in params:
                param.grad = torch.randn(param.shape).to(device)
            return torch.tensor(1.0, device=device)

        for _ in range(3):
            closure()
            if optim_info.step_requires_closure:
                optimizer.step(closure)
            else:
                optimizer.step()
        return [param.detach() for param in params]


instantiate_device_type_tests(TestOptimizers, globals(), only_for="openreg")

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    # torch's run_tests() wants one more package where CI is set, for reports in XML.
    unittest.main()
