#include "tuner/dialects/trainer.h"

#include <algorithm>
#include <numeric>

#include "traces/error.h"

namespace stowage {
namespace {

constexpr const char* python_form = "python";

std::string joined_names(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Letters to change, leave out or put in to make one of the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row.back();
}

std::string suggestion(std::string_view name, std::span<const std::string> names) {
  const std::string near = nearest(name, names);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

// A switch that is off, or a number 0: to leave it out says the same.
bool says_nothing(const ConfigValue& value) {
  const std::string text = bare_text(value);
  return text == "false" || text == "0" || text == "0.0" || text.empty() || text == "None";
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> names) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 2);
  for (const std::string& known : names) {
    const bool begins = name.size() >= 3 && known.starts_with(name);
    const std::size_t distance = begins ? 1 : edits(name, known);
    if (distance < least) best = known, least = distance;
  }
  return best;
}

const Trainer& trainer_named(std::string_view name) {
  std::vector<std::string> names{"native"};
  for (const Trainer& trainer : trainers()) {
    if (trainer.name == name) return trainer;
    names.emplace_back(trainer.name);
  }
  throw InputError("--target", "",
                   "expected one of " + joined_names(names) + ", not \"" + std::string(name) + "\"" +
                       suggestion(name, names));
}

std::vector<std::string> forms_of(const Trainer& trainer) {
  std::vector<std::string> forms;
  if (trainer.file.code) forms.emplace_back(python_form);
  for (ConfigFormat format : trainer.file.formats)
    forms.emplace_back(config_format_names[static_cast<std::size_t>(format)]);
  return forms;
}

ConfigFormat format_of(const Trainer& trainer, std::string_view file) {
  const std::vector<ConfigFormat>& formats = trainer.file.formats;
  if (formats.empty())
    throw InputError(std::string(file), "", std::string(trainer.title) + " has no configuration files");
  for (ConfigFormat format : formats) {
    const std::string ending = "." + std::string(config_format_names[static_cast<std::size_t>(format)]);
    if (file.ends_with(ending) || (format == ConfigFormat::yaml && file.ends_with(".yml"))) return format;
  }
  // Scripts have any name.
  for (ConfigFormat format : formats)
    if (format == ConfigFormat::flags || format == ConfigFormat::assignments) return format;
  return formats.front();
}

Options options_in(const Trainer& trainer, const ConfigText& config, ConfigFormat format) {
  Options options;
  for (std::string_view key : trainer.file.keys)
    if (const auto value = config.value(trainer.file.path(config, format, key))) options.emplace(key, *value);
  return options;
}

void write_options(const Trainer& trainer, ConfigText& config, ConfigFormat format, const Options& options) {
  const TrainerFile& file = trainer.file;
  const Options spelled = file.spelled ? file.spelled(config, options) : options;
  for (std::string_view key : file.keys) {
    const std::string path = file.path(config, format, key);
    const auto wanted = spelled.find(std::string(key));
    const std::optional<ConfigValue> there = config.value(path);
    const bool stays = std::find(file.kept.begin(), file.kept.end(), key) != file.kept.end();
    if (stays && there && !says_nothing(*there)) continue;
    if (wanted != spelled.end()) {
      if (there != wanted->second) config.set(path, wanted->second);
    } else if (there && !says_nothing(*there)) {
      config.erase(path);
    }
  }
}

std::string emitted(const Trainer& trainer, const std::string& form, const Options& options) {
  if (form == python_form && trainer.file.code) return trainer.file.code(options);
  for (ConfigFormat format : trainer.file.formats) {
    if (config_format_names[static_cast<std::size_t>(format)] != form) continue;
    const std::unique_ptr<ConfigText> config = config_text(format, "");
    write_options(trainer, *config, format, options);
    return config->text();
  }
  throw InputError("--form", "",
                   "expected one of " + joined_names(forms_of(trainer)) + ", not \"" + form + "\"");
}

std::string path_by_key(const ConfigText&, ConfigFormat, std::string_view key) {
  return std::string(key);
}

void refuse_family(std::string_view key, const std::string& family, std::span<const std::string> names) {
  throw InputError(
      "", std::string(key),
      "expected one of " + joined_names(names) + ", not \"" + family + "\"" + suggestion(family, names));
}

}  // namespace stowage
