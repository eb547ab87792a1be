#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes solvers.json: where PyTorch's optimisers, clipping and schedulers lead in 100 steps in double.
usage: /usr/bin/python3 tests/golden/make_solvers.py > tests/golden/solvers.json

The gradient of a step is curvature * value + noise[step]. Where PyTorch's rule is another one than ours, ours is
written out with its parts and the case says so in "rule":
  the move of sgdm keeps the rate it was made with (PyTorch's SGD at rate 1 on rate * gradient; equal while the rate is);
  a norm is brought to the threshold itself (clip_grad_norm_ divides by norm + 1e-6);
  L2 joins the gradient before it is clipped (PyTorch's weight_decay joins after it).
"""
import json

import torch

STEPS, STEPS_PER_EPOCH = 100, 10
FACTORS = [(1.0, 1.0), (0.0, 2.0), (1.0, 0.5)]  # of L2 and of the rate, for each parameter
COUNTS = [5, 3, 4]

CASES = [
    {"solver": "sgdm", "l2": 0.01},
    {"solver": "sgdm", "momentum": 0, "l2": 0.01, "learning_rate": 0.1},
    {"solver": "sgdm", "nesterov": True, "l2": 0.01, "momentum": 0.8},
    {"solver": "rmsprop", "l2": 0.01, "learning_rate": 0.01},
    {"solver": "rmsprop", "l2": 0.01, "squared_gradient_decay_factor": 0.99, "epsilon": 1e-3},
    {"solver": "adam", "l2": 0.01, "learning_rate": 0.01},
    {"solver": "adam", "l2": 0.01, "gradient_decay_factor": 0.8, "squared_gradient_decay_factor": 0.95},
    {"solver": "adamw", "learning_rate": 0.01},
    {"solver": "adamw", "learning_rate": 0.01, "weight_decay": 0.3, "l2": 0.02},
]
CASES += [{**case, "gradient_clipping": {"method": method, "threshold": 0.3}}
          for case in (CASES[0], CASES[2], CASES[3], CASES[5], CASES[8])
          for method in ("l2norm", "global_l2norm", "absolute_value")]
COSINE = {"kind": "cosine", "minimum_learning_rate": 0.002}
CASES += [{**case, "schedule": schedule}
          for case in (CASES[0], CASES[2], CASES[3], CASES[5], CASES[8])
          for schedule in ({"kind": "piecewise", "drop_factor": 0.5, "drop_period": 3},
                           {**COSINE, "period": 10}, {**COSINE, "period": 7},
                           {"warmup": {"length": 25, "start_factor": 0.2}},
                           {"kind": "piecewise", "drop_factor": 0.5, "drop_period": 2,
                            "warmup": {"length": 3, "unit": "epochs"}},
                           {**COSINE, "period": 10, "warmup": {"length": 13}})]

RATES = {"sgdm": 0.01, "rmsprop": 0.001, "adam": 0.001, "adamw": 0.001}


def rate_of(training):
    """The initial rate."""
    return training.get("learning_rate", RATES[training["solver"]])


def rates(training, steps, steps_per_epoch):
    """The rate of each step as PyTorch's schedulers say."""
    schedule = training.get("schedule", {})
    warmup = schedule.get("warmup", {})
    length = warmup.get("length", 0) * (steps_per_epoch if warmup.get("unit") == "epochs" else 1)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate_of(training))
    module = torch.optim.lr_scheduler
    parts, end = [], steps
    if length:
        parts.append(module.LinearLR(optimiser, warmup.get("start_factor", 0.1), 1.0, length))
    if schedule.get("kind") == "piecewise":
        parts.append(module.StepLR(optimiser, schedule["drop_period"] * steps_per_epoch, schedule["drop_factor"]))
    scheduler = module.ChainedScheduler(parts) if parts else None
    if schedule.get("kind") == "cosine":
        end = schedule["period"] * steps_per_epoch
        if length:  # a new optimiser: schedulers change its rate when they are made
            optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate_of(training))
            parts = [module.LinearLR(optimiser, warmup.get("start_factor", 0.1), 1.0, length)]
        parts.append(module.CosineAnnealingLR(optimiser, end - length, schedule["minimum_learning_rate"]))
        scheduler = module.SequentialLR(optimiser, parts, [length]) if length else parts[0]
    found = []
    for step in range(steps):
        found.append(optimiser.param_groups[0]["lr"] if step < end else schedule["minimum_learning_rate"])
        optimiser.step()
        if scheduler:
            scheduler.step()
    return found


def optimiser_of(training, groups):
    """PyTorch's, its rates set at each step."""
    betas = (training.get("gradient_decay_factor", 0.9), training.get("squared_gradient_decay_factor", 0.999))
    eps = training.get("epsilon", 1e-8)
    if training["solver"] == "sgdm":
        nesterov = training.get("nesterov", False)
        return torch.optim.SGD(groups, lr=1.0, momentum=training.get("momentum", 0.9), nesterov=nesterov)
    if training["solver"] == "rmsprop":
        alpha = training.get("squared_gradient_decay_factor", 0.9)
        return torch.optim.RMSprop(groups, lr=1.0, alpha=alpha, eps=eps)
    if training["solver"] == "adam":
        return torch.optim.Adam(groups, lr=1.0, betas=betas, eps=eps)
    return torch.optim.AdamW(groups, lr=1.0, betas=betas, eps=eps)


def clip(training, values):
    """The gradients are brought down to the threshold."""
    clipping = training["gradient_clipping"]
    if clipping["method"] == "absolute_value":
        torch.nn.utils.clip_grad_value_(values, clipping["threshold"])
        return
    norms = [value.grad.norm() for value in values]
    if clipping["method"] == "global_l2norm":
        norms = [torch.stack(norms).norm()] * len(values)
    for value, norm in zip(values, norms):
        value.grad *= min(1.0, clipping["threshold"] / norm.item())


def rule_of(training):
    """Whose rule a case is compared with."""
    ours = []
    if training["solver"] == "sgdm" and "schedule" in training:
        ours.append("a move keeps the rate it was made with")
    if "gradient_clipping" in training:
        ours.append("L2, then clipping to the threshold itself")
    return "PyTorch" if not ours else "PyTorch but for: " + "; ".join(ours)


def run(training, values, curvature, noise, factors=None, steps_per_epoch=STEPS_PER_EPOCH):
    """Rates, norms of the raw gradients, and the values after all steps; lists of tensors, one a parameter."""
    factors = factors or FACTORS
    values = [value.clone().requires_grad_() for value in values]
    solver, l2 = training["solver"], training.get("l2", 0.0 if training["solver"] == "adamw" else 1e-4)
    clips, held = "gradient_clipping" in training, solver == "sgdm" and "schedule" in training
    apart = clips or held or solver == "adamw"  # L2 by hand
    decay = training.get("weight_decay", 0.01) if solver == "adamw" else 0 if apart else l2
    groups = [{"params": [value], "weight_decay": decay * f[0]} for value, f in zip(values, factors)]
    optimiser, norms = optimiser_of(training, groups), []
    series = rates(training, len(noise), steps_per_epoch)
    for rate, moved in zip(series, noise):
        for value, c, n in zip(values, curvature, moved):
            value.grad = c * value.detach() + n
        norms.append(torch.cat([value.grad for value in values]).norm().item())
        for value, f in zip(values, factors):
            value.grad += (l2 * f[0] if apart else 0) * value.detach()
        if clips:
            clip(training, values)
        for group, value, f in zip(optimiser.param_groups, values, factors):
            group["lr"] = 1.0 if held else rate * f[1]
            value.grad *= rate * f[1] if held else 1
        optimiser.step()
    return series, norms, [value.detach() for value in values]


def small(i, t):
    """Numbers that every format holds exactly: value, curvature, noise."""
    return ((i * 7) % 11 - 5) / 8, ((i * 5) % 7 + 1) / 16, ((t * 7 + i * 13) % 11 - 5) / 8


def main():
    """All cases on the small numbers."""
    count = sum(COUNTS)
    values, curvature = (torch.tensor([small(i, 0)[k] for i in range(count)], dtype=torch.float64).split(COUNTS)
                         for k in (0, 1))
    noise = [torch.tensor([small(i, t)[2] for i in range(count)], dtype=torch.float64).split(COUNTS)
             for t in range(STEPS)]
    out = []
    for training in CASES:
        series, norms, after = run(training, values, curvature, noise)
        out.append({"rule": rule_of(training), "training": training, "rates": [series[t] for t in (0, 24, 25, 60, 99)],
                    "norm": norms[-1], "values": torch.cat(after).tolist()})
    print("[" + ",\n".join(json.dumps(case) for case in out) + "]")


if __name__ == "__main__":
    main()
