#include "traces/import/import.h"

#include "traces/error.h"
#include "traces/import/byte_window.h"
#include "traces/import/execution_trace.h"
#include "traces/import/kineto_import.h"
#include "traces/import/kineto_reader.h"
#include "traces/import/memory_timeline.h"
#include "traces/import/recognise.h"
#include "traces/import/snapshot_import.h"
#include "traces/import/snapshot_journal.h"

namespace stowage {
namespace {

ImportReport import_kineto(ByteWindow& window, const ImportOptions& options) {
  Repairs repairs;
  const KinetoTrace trace = read_kineto(window, repairs);
  ImportReport report = understand(trace, options);
  report.repairs = repairs;
  return report;
}

ImportReport import_snapshot(ByteWindow& window, const ImportOptions& options) {
  Repairs repairs;
  Snapshot snapshot = snapshot_of(read_pickle(window, repairs));
  snapshot.cut = repairs[Repair::truncated].count > 0;
  ImportReport report = understand(snapshot, options);
  if (options.journal) {
    if (std::optional<SnapshotJournal> found = journal_of(snapshot))
      report.journal = std::move(found->journal);
  }
  report.repairs = repairs;
  return report;
}

ImportReport import_as(RecordingFormat format, ByteWindow& window, const ImportOptions& options) {
  switch (format) {
    case RecordingFormat::kineto:
      return import_kineto(window, options);
    case RecordingFormat::memory_snapshot:
      return import_snapshot(window, options);
    case RecordingFormat::memory_timeline:
      return import_memory_timeline(window);
    case RecordingFormat::execution_trace:
      return import_execution_trace(window, options);
  }
  throw DefectError("a format of recordings without an importer");
}

std::string nothing_read(const Repairs& repairs) {
  int first = 0;
  while (repairs[static_cast<Repair>(first)].count == 0) ++first;
  const Repair repair{static_cast<std::uint8_t>(first)};
  return "nothing in it could be read: " + std::string(name_of(repair)) + " at byte " +
         std::to_string(repairs[repair].first_offset);
}

}  // namespace

ImportReport import_recording(const std::string& file, const ImportOptions& options) {
  return import_recording(*open_bytes(file), file, options);
}

ImportReport import_recording(ByteSource& source, const std::string& file, const ImportOptions& options) {
  ByteWindow window(source);
  const std::string_view beginning(window.begin(), static_cast<std::size_t>(window.end() - window.begin()));
  if (beginning.empty() && source.cut_short())
    throw InputError(file, "", "expected a recording, not gzip data that ends before any content does");
  const std::optional<RecordingFormat> format = recognise(beginning);
  if (!format) {
    throw InputError(
        file, "",
        "expected a profiler trace, a memory snapshot, a memory timeline or an execution trace, not " +
            std::string(other_content(beginning)));
  }
  try {
    ImportReport report = import_as(*format, window, options);
    if (report.events == 0 && !report.clean()) throw InputError("", "", nothing_read(report.repairs));
    if (source.cut_short() && report.repairs[Repair::truncated].count == 0) {
      report.repairs.add(Repair::truncated, window.offset_of(window.end()));
    }
    return report;
  } catch (const InputError& error) {
    if (!error.source().empty()) throw;
    throw error.in(file);
  }
}

}  // namespace stowage
