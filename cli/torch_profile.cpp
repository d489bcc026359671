// stowage profile: measures a model and a machine into files.
#include <CLI/CLI.hpp>

#include "cli/command_titles.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "cli/torch_measuring.h"
#include "traces/file.h"

namespace stowage {
namespace {

std::string blocks_text(const Profile& profile) {
  Table table;
  table.row({"block", "forward", "+-", "backward", "+-", "saved", "weights"});
  for (const BlockProfile& block : profile.blocks)
    table.row({block.name, readable(block.times.forward), readable(block.times.forward_spread),
               readable(block.times.backward), readable(block.times.backward_spread),
               readable(saved_bytes(block)), readable(block.sizes.weight)});
  return table.text();
}

std::string link_text(const Link& link) {
  return readable(Bytes{link.rate.bytes_per_second}) + "/s after " + readable(link.latency);
}

std::string links_text(const Links& links) {
  return Table(1)
      .row({"to the device", link_text(links.h2d)})
      .row({"to the host", link_text(links.d2h)})
      .row({"both at once", percent(links.duplex) + " of its rate left to each"})
      .row({"compute beside copies", percent(1 - links.compute_slowdown) + " of its rate left"})
      .text();
}

class ProfileCommand final : public Command {
 public:
  CommandTitle title() const override { return profile_title; }

  void declare(CLI::App& app) override {
    subject_.declare(app, false);
    app.add_option("-o,--output", profile_, "Write the profile")->required()->type_name("FILE");
    app.add_option("--machine-output", machine_output_, "Write the machine, links as measured")
        ->type_name("FILE");
    app.add_option("--machine", machine_, "The machine that the host device plays")->type_name("FILE");
    memory_.declare(app);
    add_count(app, "--repeats", repeats_, 1, 1000, "Steps to take medians over (9)");
  }

  Answer run(Output& output) override {
    const Subject subject = subject_.read();
    const Machine played = memory_.apply(machine_for(machine_, subject.place));
    ChosenDevice device(subject.place, played);
    const Assembled assembled = measure_profile(subject, device, repeats_);
    Machine machine = measure_links(played, device);
    // What copies take from compute by nature they take again from whoever plays the file.
    if (subject.place == Place::host) machine.links.compute_slowdown = played.links.compute_slowdown;
    write_file(profile_, to_json(assembled.profile));
    if (!machine_output_.empty()) write_file(machine_output_, to_json(machine));
    for (const std::string& warning : assembled.warnings) output.warn(warning);
    output.answer("Measured " + assembled.profile.name + ": " +
                  std::to_string(assembled.profile.blocks.size()) + " blocks, over " +
                  std::to_string(repeats_) + " steps.");
    output.say("\n" + blocks_text(assembled.profile) + "\n" + links_text(machine.links));
    output.object(json_of(assembled, machine));
    return Answer::done;
  }

 private:
  static std::string json_of(const Assembled& assembled, const Machine& machine) {
    JsonWriter json;
    json.begin_object().key("profile").raw(to_json(assembled.profile));
    json.key("machine").raw(to_json(machine));
    write_texts(json, "warnings", assembled.warnings);
    return json.end_object().text();
  }

  SubjectFlags subject_;
  std::string profile_, machine_output_, machine_;
  MemoryFlags memory_;
  std::int64_t repeats_ = 9;
};

}  // namespace

std::unique_ptr<Command> profile_command() {
  return std::make_unique<ProfileCommand>();
}

}  // namespace stowage
