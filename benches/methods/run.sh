#!/bin/sh
# Measures the products of this folder beside the methods of `epitome`:
#   sh benches/methods/run.sh FOLDER [what `epitome bench` takes]
# installs what requirements.txt and package-lock.json pin into FOLDER, where that is not there yet, and starts a process for each
# product, which is ended again.
# EPITOME names the program if `epitome` is not on the path. Needs python3 (3.10 or later), node 22, npm and curl.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ $# -eq 0 ]; then
    echo "usage: sh run.sh FOLDER [what epitome bench takes]" >&2
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift

pins=$(cat "$here/requirements.txt" "$here/package-lock.json")
if [ "$pins" != "$(cat "$folder/installed" 2>/dev/null)" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
    cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$folder"
    npm ci --prefix "$folder" --no-audit --no-fund >&2
    printf '%s\n' "$pins" >"$folder/installed"
fi
# Node looks for packages beside the file that asks for them.
cp "$here/mastra_limiter.mjs" "$folder"

started=
trap '[ -z "$started" ] || kill $started' EXIT
trap 'exit 1' INT TERM
listen() {
    name=$1
    shift
    socket="$folder/$name.socket"
    rm -f "$socket"
    "$@" --listen "$socket" >"$folder/$name.log" 2>&1 &
    started="$started $!"
    while [ ! -S "$socket" ]; do
        if ! kill -0 $!; then
            echo "$name does not start: $folder/$name.log says why" >&2
            exit 1
        fi
        sleep 1
    done
}
ask() {
    printf "%s=curl --silent --show-error --fail --unix-socket '%s' --data-binary @- http://localhost/" "$1" "$folder/$1.socket"
}

for name in langchain_trim langchain_editing agent_framework_composed haystack_window llama_index_memory headroom_compress; do
    listen "$name" "$folder/venv/bin/python" "$here/$name.py"
done
listen mastra_limiter node "$folder/mastra_limiter.mjs"

"${EPITOME:-epitome}" bench "$@" \
    --command "$(ask langchain_trim)" \
    --command "$(ask langchain_editing)" \
    --command "$(ask agent_framework_composed)" \
    --command "$(ask haystack_window)" \
    --command "$(ask llama_index_memory)" \
    --command "$(ask mastra_limiter)" \
    --command "$(ask headroom_compress)"
