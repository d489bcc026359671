# Shared by the scripts beside it, which source it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}

# install_packages NAME...: installs those of the Debian packages that are missing.
install_packages() {
  local missing=() name as_root=()
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "this is neither Debian nor Ubuntu: install what these packages hold: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "neither root nor sudo: have an administrator install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "Installing Debian packages: ${missing[*]}" >&2
  # The wait is for another process that is installing packages just now.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update >&2 || echo "The package lists could not be refreshed; the present ones are used." >&2
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 ||
    fail "apt-get could not install: ${missing[*]}"
}

# One compiler a core, but no more than memory allows: a source that includes torch takes over a gigabyte.
compile_jobs() {
  local by_memory
  by_memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  local jobs=$(($(nproc) < by_memory ? $(nproc) : by_memory))
  echo $((jobs > 0 ? jobs : 1))
}

# python_with REQUIREMENTS: prints a Python that has them, from PyPI, made once in $STOWAGE_CACHE (default ~/.cache/stowage).
python_with() {
  local folder
  folder=${STOWAGE_CACHE:-$HOME/.cache/stowage}/python-$(sha256sum "$1" | cut -c -16)
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2 || fail "python3 cannot make a virtual environment in $folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$1" >&2 || fail "PyPI did not give what $1 lists"
    touch "$folder/complete"
  fi
  echo "$folder/bin/python"
}
