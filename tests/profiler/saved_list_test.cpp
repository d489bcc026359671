#include "profiler/saved_list.h"

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "tests/catch.h"

using namespace stowage;

TEST_CASE("saved tensors are listed with their scope, storage and layout") {
  const at::Tensor whole = at::zeros({4, 6}), mask = at::zeros({5}, at::kBool);
  SavedList list(2, {});
  list.on_save({1, 0, whole.narrow(1, 2, 3), Scope::attention});
  list.on_save({1, 1, mask, Scope::ffn});
  list.on_save({1, 0, whole, Scope::attention});
  REQUIRE(list.block(0).empty());

  const std::vector<SavedTensor> saved = list.block(1);
  // Both views name the storage of 4 x 6 x 4 bytes.
  using Sizes = std::vector<std::int64_t>;
  const TensorLayout part{"float32", Sizes{4, 3}, Sizes{6, 1}, 2};
  const TensorLayout flags{"bool", Sizes{5}, Sizes{1}, 0};
  REQUIRE(saved.size() == 3);
  REQUIRE(saved[0] == SavedTensor{"attention.0", {96}, Scope::attention, part, "0"});
  REQUIRE(saved[1] == SavedTensor{"ffn.0", {5}, Scope::ffn, flags, {}});
  REQUIRE(saved[2].name == "attention.1");
  REQUIRE(saved[2].storage == "0");
}

TEST_CASE("parts are listed with what they start from") {
  SavedList list(2);
  list.on_start({0, Scope::attention, {}});
  list.on_start({0, Scope::ffn, {}});
  list.on_start({1, Scope::ffn, Bytes{4}});
  list.on_start({1, Scope::ffn, Bytes{3}});
  REQUIRE(list.starts(0) == ByScope<Bytes>{std::nullopt, Bytes{0}, std::nullopt});
  REQUIRE(list.starts(1) == ByScope<Bytes>{std::nullopt, Bytes{7}, std::nullopt});
  REQUIRE(list.has_parts(0, Scope::attention));
  REQUIRE_FALSE(list.has_parts(1, Scope::attention));
}

TEST_CASE("P36: integers, and what is small, are said to stay") {
  SavedList list(1);
  const at::Tensor label = at::zeros({501}, at::kLong).narrow(0, 1, 500);
  for (const at::Tensor& each : {label, at::zeros({256}), at::zeros({255}), at::zeros({1024}, at::kBool),
                                 at::zeros({2048}, at::kChar)})
    list.on_save({0, 0, each, Scope::other});
  std::vector<bool> stays;
  for (const SavedTensor& saved : list.block(0)) stays.push_back(saved.stays);
  // 4008 B of int64; 1024 B and 1020 B of float; 1024 B of bool, a mask; 2048 B of int8.
  REQUIRE(stays == std::vector<bool>{true, false, true, false, true});
}
