"""A small transformer with what real ones do to a runtime: dropout, several states, constants, keyword arguments."""

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Takes and gives two states; `condition` is the same for every block."""

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * width, width))
        self.gate = nn.Linear(width, width)

    def forward(self, hidden, *, text, condition):
        gate = self.gate(condition["time"])[:, None]
        joint = torch.cat([text, hidden], dim=1)
        joint = joint + gate * self.attn(self.norm1(joint))
        joint = joint + self.mlp(self.norm2(joint))
        return joint[:, text.shape[1] :], joint[:, : text.shape[1]]


class Model(nn.Module):
    def __init__(self, width=32, depth=6):
        super().__init__()
        self.embed = nn.Linear(8, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 8)

    def forward(self, x, text, time):
        hidden = self.embed(x)
        text = self.embed(text)
        for block in self.blocks:
            hidden, text = block(hidden, text=text, condition={"time": time, "note": "not a tensor"})
        return self.head(hidden)


def make(seed=0, frozen=False):
    torch.manual_seed(seed)
    model = Model()
    if frozen:  # all but one small part of each block, as adapters would have it
        for name, parameter in model.named_parameters():
            parameter.requires_grad_("gate" in name)
    return model


def batch(seed=1, count=2):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    return draw(count, 24, 8), draw(count, 8, 8), draw(count, 32)


def loss_of(model, data=None):
    return model(*(data or batch())).square().mean()


def gradients(model):
    return {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}


def same(left, right):
    """Bit for bit, names included."""
    return left.keys() == right.keys() and all(
        (a is None and b is None) or (a is not None and b is not None and torch.equal(a, b))
        for a, b in zip(left.values(), right.values(), strict=True)
    )


def train(model, steps=3, seed=5):
    """Losses, last gradients and parameters of some steps with AdamW."""
    torch.manual_seed(seed)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2, foreach=False)
    losses = []
    for number in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, batch(number))
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    return losses, gradients(model), {name: p.detach().clone() for name, p in model.state_dict().items()}
