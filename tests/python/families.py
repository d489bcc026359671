"""Model families at tiny random configurations, each with its own class from PyPI and adapters through peft.

    python tests/python/families.py [NAME...]      writes the table of docs/families.md to standard output

Every kind of plan is carried out: gradients must equal those without a plan, bit for bit, and peaks are compared with what
was predicted.
"""

import gc
import sys
from dataclasses import dataclass

import torch

import stowage
from stowage import Settings

PLANS = {
    "recompute": Settings(policy="recompute"),
    "recompute, interval 2": Settings(policy="recompute", interval=2),
    "recompute ffn": Settings(policy="recompute", scope="ffn"),
    "offload": Settings(policy="offload"),
    "offload attention": Settings(policy="offload", scope="attention"),
    "recompute+offload, interval 2": Settings(policy="recompute+offload", interval=2),
    "recompute, swap": Settings(policy="recompute", swap_blocks=3, prefetch=1),
}
ATTENTION = ["to_q", "to_k", "to_v", "to_out.0"]


def draw(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def diffusers_model(name, inputs, targets=ATTENTION, **config):
    """A model with adapters, and what to call it with."""
    import diffusers
    from peft import LoraConfig, inject_adapter_in_model

    torch.manual_seed(0)
    model = getattr(diffusers, name)(**config)
    model.requires_grad_(False)
    inject_adapter_in_model(LoraConfig(r=4, target_modules=list(targets), init_lora_weights=False), model)
    return model.train(), inputs


def transformers_model(name, **config):
    import transformers
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    sizes = {"vocab_size": 97, "hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 5, "use_cache": False}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    made = getattr(transformers, f"{name}Config")(**{**sizes, **heads, **config})
    model = getattr(transformers, f"{name}ForCausalLM")(made)
    model = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    tokens = torch.arange(2 * 128).view(2, 128) % 97
    return model.train(), {"input_ids": tokens, "labels": tokens}


def flux():
    inputs = {
        "hidden_states": draw(1, 256, 16), "encoder_hidden_states": draw(1, 32, 64), "pooled_projections": draw(1, 32),
        "timestep": torch.tensor([0.5]), "img_ids": draw(256, 3), "txt_ids": draw(32, 3),
    }  # fmt: skip
    return diffusers_model(
        "FluxTransformer2DModel", inputs, patch_size=1, in_channels=16, num_layers=3, num_single_layers=4,
        attention_head_dim=32, num_attention_heads=2, joint_attention_dim=64, pooled_projection_dim=32,
        axes_dims_rope=(8, 12, 12),
    )  # fmt: skip


def chroma():
    inputs = {
        "hidden_states": draw(1, 256, 16), "encoder_hidden_states": draw(1, 32, 64), "timestep": torch.tensor([0.5]),
        "img_ids": draw(256, 3), "txt_ids": draw(32, 3),
    }  # fmt: skip
    return diffusers_model(
        "ChromaTransformer2DModel", inputs, patch_size=1, in_channels=16, num_layers=3, num_single_layers=3,
        attention_head_dim=32, num_attention_heads=2, joint_attention_dim=64, axes_dims_rope=(8, 12, 12),
        approximator_num_channels=8, approximator_hidden_dim=16, approximator_layers=1,
    )  # fmt: skip


def pixart():
    inputs = {
        "hidden_states": draw(1, 4, 32, 32), "encoder_hidden_states": draw(1, 16, 64), "timestep": torch.tensor([500]),
        "added_cond_kwargs": {},
    }  # fmt: skip
    return diffusers_model(
        "PixArtTransformer2DModel", inputs, num_layers=5, num_attention_heads=2, attention_head_dim=32,
        cross_attention_dim=64, caption_channels=64, sample_size=32, norm_num_groups=1,
    )  # fmt: skip


def aura_flow():
    inputs = {
        "hidden_states": draw(1, 4, 32, 32), "encoder_hidden_states": draw(1, 32, 32), "timestep": torch.tensor([0.5]),
    }  # fmt: skip
    return diffusers_model(
        "AuraFlowTransformer2DModel", inputs, sample_size=32, patch_size=2, in_channels=4, num_mmdit_layers=2,
        num_single_dit_layers=3, attention_head_dim=16, num_attention_heads=4, caption_projection_dim=64,
        joint_attention_dim=32, out_channels=4, pos_embed_max_size=256,
    )  # fmt: skip


def sd3():
    inputs = {
        "hidden_states": draw(1, 4, 32, 32), "encoder_hidden_states": draw(1, 32, 32), "pooled_projections": draw(1, 64),
        "timestep": torch.tensor([500]),
    }  # fmt: skip
    return diffusers_model(
        "SD3Transformer2DModel", inputs, sample_size=32, patch_size=2, in_channels=4, num_layers=5,
        attention_head_dim=16, num_attention_heads=4, caption_projection_dim=64, joint_attention_dim=32,
        pooled_projection_dim=64, out_channels=4, pos_embed_max_size=96,
    )  # fmt: skip


def lumina2():
    inputs = {
        "hidden_states": draw(1, 4, 32, 32), "encoder_hidden_states": draw(1, 16, 8), "timestep": torch.tensor([0.5]),
        "encoder_attention_mask": torch.ones(1, 16, dtype=torch.bool),
    }  # fmt: skip
    return diffusers_model(
        "Lumina2Transformer2DModel", inputs, sample_size=32, patch_size=2, in_channels=4, hidden_size=48, num_layers=5,
        num_refiner_layers=1, num_attention_heads=3, num_kv_heads=1, multiple_of=2, ffn_dim_multiplier=None,
        norm_eps=1e-5, scaling_factor=1.0, axes_dim_rope=(8, 4, 4), axes_lens=(128, 512, 512), cap_feat_dim=8,
    )  # fmt: skip


def sana():
    inputs = {
        "hidden_states": draw(1, 4, 16, 16), "encoder_hidden_states": draw(1, 16, 8), "timestep": torch.tensor([500]),
    }  # fmt: skip
    return diffusers_model(
        "SanaTransformer2DModel", inputs, patch_size=1, in_channels=4, out_channels=4, num_layers=5,
        attention_head_dim=16, num_attention_heads=3, num_cross_attention_heads=3, cross_attention_head_dim=16,
        cross_attention_dim=48, caption_channels=8, sample_size=16,
    )  # fmt: skip


def wan():
    inputs = {
        "hidden_states": draw(1, 4, 2, 24, 24), "encoder_hidden_states": draw(1, 16, 16),
        "timestep": torch.tensor([500]),
    }  # fmt: skip
    return diffusers_model(
        "WanTransformer3DModel", inputs, patch_size=(1, 2, 2), num_attention_heads=2, attention_head_dim=24,
        in_channels=4, out_channels=4, text_dim=16, freq_dim=64, ffn_dim=96, num_layers=5, cross_attn_norm=True,
        qk_norm="rms_norm_across_heads", rope_max_seq_len=32,
    )  # fmt: skip


def qwen_image():
    inputs = {
        "hidden_states": draw(1, 256, 16), "encoder_hidden_states": draw(1, 16, 16), "timestep": torch.tensor([0.5]),
        "encoder_hidden_states_mask": torch.ones(1, 16, dtype=torch.long), "img_shapes": [[(1, 16, 16)]],
    }  # fmt: skip
    return diffusers_model(
        "QwenImageTransformer2DModel", inputs, patch_size=2, in_channels=16, out_channels=4, num_layers=5,
        attention_head_dim=16, num_attention_heads=4, joint_attention_dim=16, guidance_embeds=False,
        axes_dims_rope=(8, 4, 4),
    )  # fmt: skip


def sdxl_unet():
    inputs = {
        "sample": draw(1, 4, 32, 32), "timestep": torch.tensor([500]), "encoder_hidden_states": draw(1, 16, 64),
        "added_cond_kwargs": {"text_embeds": draw(1, 32), "time_ids": draw(1, 6)},
    }  # fmt: skip
    return diffusers_model(
        "UNet2DConditionModel", inputs, block_out_channels=(32, 64), layers_per_block=2, sample_size=32,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(2, 4), use_linear_projection=True, addition_embed_type="text_time",
        addition_time_embed_dim=8, transformer_layers_per_block=(1, 4), projection_class_embeddings_input_dim=80,
        cross_attention_dim=64, norm_num_groups=1,
    )  # fmt: skip


FAMILIES = {
    "Flux": flux,
    "Chroma": chroma,
    "PixArt": pixart,
    "AuraFlow": aura_flow,
    "Stable Diffusion 3": sd3,
    "Lumina 2": lumina2,
    "Sana": sana,
    "Wan": wan,
    "Qwen-Image": qwen_image,
    "SDXL": sdxl_unet,
    "Llama": lambda: transformers_model("Llama"),
    "Qwen 3": lambda: transformers_model("Qwen3", head_dim=16),
}


@dataclass
class Row:
    """What one kind of plan did to one family."""

    plan: str
    equal: bool
    predicted: int
    measured: int
    kept: int  # the peak without a plan

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


@dataclass
class Result:
    name: str
    kind: str
    profile: stowage.Profile
    rows: list[Row]

    def markdown(self) -> str:
        groups = {}
        for block in self.profile.blocks:
            groups[block.get("group", "")] = groups.get(block.get("group", ""), 0) + 1
        worst = max(self.rows, key=lambda row: abs(row.error))
        least = min(self.rows, key=lambda row: row.measured)
        equal = "all equal" if all(row.equal for row in self.rows) else "**differ**"
        counts = " + ".join(str(count) for count in groups.values()) if len(groups) < 4 else str(sum(groups.values()))
        saved = f"{(1 - least.measured / least.kept) * 100:.0f} % ({least.plan})"
        return f"| {self.name} | `{self.kind}` | {counts} | {equal} | {saved} | {worst.error * 100:+.1f} % ({worst.plan}) |"


def loss_of(model, inputs):
    torch.manual_seed(3)
    result = model(**inputs)
    loss = getattr(result, "loss", None)
    return loss if loss is not None else result[0].square().mean()


def gradients(model):
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def train_once(model, inputs):
    """Gradients, and the peak of a second step."""
    loss_of(model, inputs).backward()
    found = gradients(model)
    model.zero_grad()
    gc.collect()
    host = {name: g.numpy().tobytes() for name, g in found.items()}
    del found
    stowage.arena.take_peak()
    loss_of(model, inputs).backward()
    peak = stowage.arena.take_peak()
    model.zero_grad()
    return host, peak


def examine(name, plans=PLANS):
    model, inputs = FAMILIES[name]()

    def step():
        loss_of(model, inputs).backward()
        model.zero_grad()

    profile = stowage.profile(model, step, repeats=1)
    expected, kept = train_once(model, inputs)
    assert expected, "no gradients"
    machine = stowage.this_machine(model)
    rows = []
    for words, settings in {"keep": Settings(), **plans}.items():
        try:
            plan = settings.plan(profile)
        except stowage.InputError:  # not every block has such a part
            continue
        predicted = stowage.simulate(profile, machine, plan).peak_bytes
        with stowage.apply(plan, model):
            found, peak = train_once(model, inputs)
        rows.append(Row(words, found == expected, predicted, peak, kept))
    inner = getattr(model, "base_model", None)
    kind = type(inner.model if hasattr(model, "peft_config") and hasattr(inner, "model") else model).__name__
    return Result(name, kind, profile, rows)


HEAD = """# Model families under live plans

Made by `python tests/python/families.py > docs/families.md`: each family's own class at a tiny random configuration, with
adapters by peft, on the accounted CPU. *Gradients*: under every kind of plan of that script, and none at all, bit for bit.
*Least peak*: how much less than keeping everything, and by which plan. *Prediction*: the predicted device peak against the
measured one, where it is furthest off. Under *offload* that depends on how soon copies end, which on a busy machine is late;
for a part of a block that is recomputed memory is an estimate. Without these two kinds it is within two percent, except for
SDXL: what lives between its blocks (skip connections) counts as always there.

| family | class | blocks | gradients | least peak | prediction |
|---|---|---|---|---|---|"""


def main(names):
    torch.set_num_threads(1)
    stowage.arena.install()
    print(HEAD)
    for name in names or FAMILIES:
        result = examine(name)
        print(result.markdown(), flush=True)
        for row in result.rows:
            print(f"{name}: {row.plan}: {row.error * 100:+.2f} %, equal {row.equal}", file=sys.stderr)
        del result
        gc.collect()


if __name__ == "__main__":
    main(sys.argv[1:])
