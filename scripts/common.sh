# Sourced by the scripts beside it: where things are, and virtual environments with pinned tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PYTHONDONTWRITEBYTECODE=1
# An outer environment must not leak into ours.
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME

die() {
    echo "$*" >&2
    exit 1
}

# Something optional is missing: said and skipped on a person's machine, an error in CI.
missing() {
    [ "${CI:-}" = "true" ] && die "$* (an error in CI)"
    echo "SKIPPED: $*"
}

mapfile -t pythons < <(scripts/pythons)
[ "${#pythons[@]}" -gt 0 ] || die "hanaming needs CPython 3.10 or newer (with venv: on Debian, apt-get install python3-venv)"
command -v cargo >/dev/null || die "hanaming needs Rust, see https://rustup.rs"
oldest=${pythons[0]}
newest=${pythons[-1]}
export PYO3_PYTHON=$oldest

# venv FOLDER PYTHON REQUIREMENTS…: makes the environment, installs the pinned requirements; does nothing when
# neither the interpreter nor the files have changed since.
venv() {
    local folder=$1 python=$2 stamp
    shift 2
    stamp=$("$python" -VV && cat /dev/null "$@")
    if [ ! -x "$folder/bin/python" ] || [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ]; then
        rm -rf "$folder"
        "$python" -m venv "$folder"
        # Said by itself, since whoever asks whether this worked has `set -e` off in here.
        [ $# -eq 0 ] || "$folder/bin/python" -m pip install --quiet $(printf -- '-r %s ' "$@") || return 1
        printf '%s' "$stamp" >"$folder/stamp"
    fi
}

# install_wheel FOLDER: puts the wheel just built, and what it needs, into an environment.
install_wheel() {
    "$1/bin/python" -m pip install --quiet -r scripts/requirements-runtime.txt
    "$1/bin/python" -m pip install --quiet --force-reinstall --no-deps dist/hanaming-*.whl
}
