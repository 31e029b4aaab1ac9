#!/bin/sh
# Installs the command `epitome` for the person who runs this: fetches the archive for this machine, compares its checksum, and
# puts the program into a folder of theirs. It changes nothing else.
#
#   sh install.sh              the newest release
#   sh install.sh 0.2.0        that version
#
# EPITOME_INSTALL_DIR   where the program goes                       [default: ~/.local/bin]
# EPITOME_RELEASE       a folder, or an address, that has the archives and their SHA256SUMS [default: the release on GitHub]
set -eu

repository=https://github.com/OWNER/epitome

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

has() {
    command -v "$1" > /dev/null 2>&1
}

# The triple that the archives are named by.
target() {
    system=$(uname -s)
    machine=$(uname -m)
    case $machine in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no build for $machine: build from source, $repository#try-it" ;;
    esac
    case $system in
        Linux)
            # Programs for glibc (2.17 or newer) do not start where the C library is musl, and its `ldd` says which it is.
            if ldd --version 2>&1 | grep -qi musl; then echo "$machine-unknown-linux-musl"; else echo "$machine-unknown-linux-gnu"; fi
            ;;
        Darwin) echo "$machine-apple-darwin" ;;
        MINGW* | MSYS* | CYGWIN*) fail "on Windows, take epitome-x86_64-pc-windows-msvc.zip from $repository/releases" ;;
        *) fail "there is no build for $system: build from source, $repository#try-it" ;;
    esac
}

# fetch NAME: from the release into the working folder.
fetch() {
    case $release in
        http://* | https://*)
            if has curl; then
                curl --fail --silent --show-error --location --retry 3 --output "$1" "$release/$1"
            elif has wget; then
                wget --quiet --tries=3 --output-document="$1" "$release/$1"
            else
                fail "neither curl nor wget is here to fetch $release/$1"
            fi || fail "cannot fetch $release/$1"
            ;;
        *) cp "$release/$1" "$1" || fail "there is no $1 in $release" ;;
    esac
}

sha256() {
    if has sha256sum; then sum=$(sha256sum "$1"); else sum=$(shasum -a 256 "$1"); fi
    echo "${sum%% *}"
}

main() {
    [ $# -le 1 ] || fail "usage: install.sh [VERSION]"
    [ -n "${HOME:-}${EPITOME_INSTALL_DIR:-}" ] || fail "HOME is not set: say where to with EPITOME_INSTALL_DIR"
    into=${EPITOME_INSTALL_DIR:-$HOME/.local/bin}
    name=epitome-$(target)
    latest=$repository/releases/latest/download
    [ $# -eq 0 ] || latest=$repository/releases/download/v${1#v}
    release=${EPITOME_RELEASE:-$latest}
    case $release in
        /* | http://* | https://*) ;;
        *) release=$PWD/$release ;;
    esac
    case $into in
        /*) ;;
        *) into=$PWD/$into ;;
    esac

    has sha256sum || has shasum || fail "neither sha256sum nor shasum is here to check the archive with"

    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 1' HUP INT TERM
    cd "$folder"
    fetch SHA256SUMS
    expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" SHA256SUMS)
    [ -n "$expected" ] || fail "$release has no $name.tar.gz"
    fetch "$name.tar.gz"
    found=$(sha256 "$name.tar.gz")
    [ "$found" = "$expected" ] || fail "$name.tar.gz has the checksum $found, not $expected: it is damaged or was changed, and is not installed"
    tar -xzf "$name.tar.gz"
    version=$("$name/epitome" --version) || fail "the program does not run on this machine; nothing was installed"

    mkdir -p "$into" || fail "cannot make $into: name another folder with EPITOME_INSTALL_DIR"
    # Renamed over an older one: who runs that keeps it.
    new=$into/.epitome.$$
    if ! { cp "$name/epitome" "$new" && mv -f "$new" "$into/epitome"; }; then
        rm -f "$new"
        fail "cannot write to $into: name another folder with EPITOME_INSTALL_DIR"
    fi
    echo "$version is installed as $into/epitome"
    case :$PATH: in
        *:"$into":*) ;;
        *) echo "$into is not on your PATH; add it: export PATH=\"$into:\$PATH\"" ;;
    esac
}

main "$@"
