// The trainers that a plan can be told in: one row each, beside a file pair with its options and what they
// mean. Nothing outside that pair and the row knows one trainer from another.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/config/config_text.h"
#include "tuner/dialects/dialect.h"

namespace stowage {

struct TrainerFile {
  // How its configurations are written, the usual way first; none: it has no such files.
  std::vector<ConfigFormat> formats;
  // The options that have a say in memory: all others of a configuration are left as they are.
  std::span<const std::string_view> keys;
  // Where an option stands in a configuration, or would.
  std::string (*path)(const ConfigText& config, ConfigFormat format, std::string_view key);
  // The model that a configuration is for; "" where it does not say. Null: it never does.
  std::string (*family)(const ConfigText& config, ConfigFormat format) = nullptr;
  // The options as Python to paste; null: they are no calls.
  std::string (*code)(const Options& options) = nullptr;
  // The options as this configuration's version names them; null: there is one version.
  Options (*spelled)(const ConfigText& config, const Options& options) = nullptr;
  // Of the keys those that are about more than memory: written where they are missing, and else left.
  std::span<const std::string_view> kept = {};
};

struct Trainer {
  std::string_view name;       // "simpletuner", as flags have it
  std::string_view title;      // "SimpleTuner"
  std::string_view family_is;  // what a family is called there: "model_family"; "": models are all alike
  std::vector<std::string> (*families)();
  // Throws InputError naming what a family is called where it is not known, and lists those that are.
  std::unique_ptr<Dialect> (*dialect)(const std::string& family);
  TrainerFile file;
};

std::span<const Trainer> trainers();
// Throws InputError naming "--target", with the nearest name, where there is none.
const Trainer& trainer_named(std::string_view name);

// How options can be printed: names of formats, and "python". The usual way first.
std::vector<std::string> forms_of(const Trainer& trainer);
// Of a file by how its name ends. Throws InputError where the trainer has no files.
ConfigFormat format_of(const Trainer& trainer, std::string_view file);

// Throws InputError with the option where a value is neither a switch, a number nor a word.
Options options_in(const Trainer& trainer, const ConfigText& config, ConfigFormat format);
// These options for the configuration's own about memory; everything else stays as it is written.
void write_options(const Trainer& trainer, ConfigText& config, ConfigFormat format, const Options& options);
// Nothing but these options, in one of forms_of().
std::string emitted(const Trainer& trainer, const std::string& form, const Options& options);

// Where the option stands is what it is called.
std::string path_by_key(const ConfigText& config, ConfigFormat format, std::string_view key);
// The entry of `names` that is nearest to a misspelt one; "" where none is near.
std::string nearest(std::string_view name, std::span<const std::string> names);
// Throws InputError naming `key`, which a family is called, unless it is one of `names`.
[[noreturn]] void refuse_family(std::string_view key, const std::string& family,
                                std::span<const std::string> names);

}  // namespace stowage
