// GPUs as their makers describe them, and what stands around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/machine.h"

namespace stowage {

struct Gpu {
  std::string name, id;  // in tables, and on the command line
  Bytes memory;          // as the driver reports it, nothing running
  double half_flops =
      0;           // multiplications a second of 16-bit numbers, dense, summed in 32 bits, counted twice
  Rate bandwidth;  // of the device's own memory
  std::int64_t pcie = 4;  // generation
  std::int64_t lanes = 16;
  Bytes usual_host;  // memory of a host that such a GPU is usually in
  // What PyTorch sets aside for cuBLAS, for each thread: 32 MiB from Hopper on, before 8 and an eighth.
  Bytes matrix_workspace;
  std::int64_t cards = 1;  // of one board, or of one node as it is usually rented: they share the host

  bool operator==(const Gpu&) const = default;
};

enum class Platform : std::uint8_t { linux, wsl2, windows };

// What a platform keeps for itself and how much it lets pin:
//   linux    a context of 0.5 GiB; all host memory may be pinned, which PyTorch rounds up to powers of two
//   wsl2     0.48 GiB less of the device is to be had than without Windows; what may be pinned cannot be told
//            from outside (0.5 GB to half of the memory were reported), so 0.75 GiB is taken until probed
//   windows  context and desktop take 1.7 GiB; half of the host's memory may be pinned, and what is pinned
//            counts against the device
Machine machine_of(const Gpu& gpu, Platform platform, std::optional<Bytes> host = std::nullopt);

// By name or id, capitals and spaces apart. Null where there is none.
const Gpu* find_gpu(const std::vector<Gpu>& gpus, const std::string& name);

// Reads and checks a catalogue of GPUs. Throws InputError with the path of the key, SystemError if the file
// cannot be read.
std::vector<Gpu> read_gpus(const std::string& file);
std::vector<Gpu> parse_gpus(const std::string& text);

}  // namespace stowage
