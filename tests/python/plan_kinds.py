"""One plan of each kind, in settings."""

from stowage import Settings

KINDS = {
    "keep": Settings(),
    "recompute": Settings(policy="recompute"),
    "recompute in pairs": Settings(policy="recompute", interval=2),
    "recompute every other": Settings(policy="recompute", interval=1, stride=2),
    "recompute attention": Settings(policy="recompute", scope="attention"),
    "recompute ffn": Settings(policy="recompute", scope="ffn"),
    "offload": Settings(policy="offload"),
    "offload ffn, early": Settings(policy="offload", scope="ffn", prefetch=3),
    "offload, late": Settings(policy="offload", prefetch=0),
    "recompute and offload": Settings(policy="recompute+offload", interval=2),
}
SWAPS = {
    "swap": Settings(swap_blocks=4, swap_mode="two-way"),
    "swap and recompute": Settings(policy="recompute", interval=2, swap_blocks=5, swap_mode="two-way"),
    "swap and offload": Settings(policy="offload", swap_blocks=3, swap_which="spread", swap_mode="two-way", prefetch=2),
}
FROZEN_SWAPS = {
    "swap frozen": Settings(swap_blocks=5),
    "swap frozen and recompute": Settings(policy="recompute", interval=3, swap_blocks=5, prefetch=2),
    "swap frozen, late": Settings(swap_blocks=4, swap_which="first", prefetch=0),
}
