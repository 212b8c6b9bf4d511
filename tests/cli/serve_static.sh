#!/bin/bash
# serve_static.sh -- the folder that 'bouma serve --static' writes for a web server.
source "$(dirname "$0")/common.bash"
do_not_sync

golden=$tests/../golden/v1
cp -r "$golden/cube.bouma" "$golden/dust.bouma" .
chmod -R u+w cube.bouma dust.bouma

# Wrong calls write nothing.
refuse 2 '--copy is for --static only' "$BOUMA" serve cube.bouma --copy
refuse 2 '--force is for --static only' "$BOUMA" serve cube.bouma --force
refuse 2 'so --port has no meaning' "$BOUMA" serve cube.bouma --static site --port 0
refuse 2 'so --token has no meaning' "$BOUMA" serve cube.bouma --static site --token 12345678
refuse 2 'nothing.bouma' "$BOUMA" serve nothing.bouma --static site

# A build that lacks what goes into the folder says so.
run "$BOUMA" serve cube.bouma --static site
if [[ $status -eq 2 && $err == *'is built without the '* ]]; then
    [[ $err == *'./dev wasm'* ]] || complain "it does not say what to do: $err"
    [[ ! -e site ]] || complain "site was made"
    finish
fi
[[ $status -eq 0 ]] || complain "$err"

# listed JQ: a claim about the listing.
listed()
{
    jq -e "$1" site/listing.json >/dev/null || complain "$1: $(<site/listing.json)"
}

# What is there, and the listing.
[[ $(cd site && find . -type f -o -type l | sort | tr '\n' ' ') == "./data/cube.bouma ./index.html ./listing.json \
./viewer/bouma.wasm ./viewer/icon.svg ./viewer/viewer.css ./viewer/viewer.js ./viewer/worker.js " ]] ||
    complain "$(find site)"
[[ $(readlink site/data/cube.bouma) == ../../cube.bouma ]] || complain "$(readlink site/data/cube.bouma)"
[[ $out == "site: 1 dataset, "*"Range requests"*"npx http-server site"*"python3 -m http.server' does not"*"--copy"* ]] || complain "$out"
grep -q 'rel="bouma-listing" href="listing.json"' site/index.html || complain "the page does not name the listing"
[[ $(head -c 4 site/viewer/bouma.wasm | od -An -tx1) == " 00 61 73 6d" ]] || complain "bouma.wasm is no module"
listed '.listing == 1 and (.datasets | length) == 1'
listed '.datasets[0] | .name == "cube" and .url == "data/cube.bouma/"'
"$BOUMA" info cube.bouma --json >info.json
jq -e --slurpfile info info.json '.datasets[0] | .steps == [$info[0].steps[].step] and .times == [$info[0].steps[].time]' \
    site/listing.json >/dev/null || complain "steps: $(<site/listing.json)"
(cd cube.bouma && find . -type f -printf '%P %s\n' | sort) >wanted
jq -r '.datasets[0].files | to_entries[] | "\(.key) \(.value)"' site/listing.json | sort >files
same files wanted

# It is brought up to date, with several datasets; a directory of them will do.
expect 0 "$BOUMA" serve --static site cube.bouma dust.bouma --json
jq -e '.folder == "site" and .datasets == 2 and .files > 4 and .bytes > 0 and .copied == false' <<<"$out" >/dev/null || complain "$out"
listed '[.datasets[].name] == ["cube", "dust"]'
cmp -s site/data/dust.bouma/DATASET dust.bouma/DATASET || complain "no way to dust.bouma"
mkdir deep && expect 0 "$BOUMA" serve --static deep/site .
[[ $(readlink deep/site/data/dust.bouma) == ../../../dust.bouma ]] || complain "$(readlink deep/site/data/dust.bouma)"
[[ -z $(find . -name '*.part') ]] || complain "temporary files are left"

# Copies take the place of links, and are never written through them.
chmod -R a-w cube.bouma
before=$(find cube.bouma -printf '%P %i %T@\n' | sort)
expect 0 "$BOUMA" serve --static site cube.bouma dust.bouma --copy
[[ ! -L site/data/cube.bouma ]] || complain "still a link"
diff -r cube.bouma site/data/cube.bouma || complain "the copy differs"
[[ $(find cube.bouma -printf '%P %i %T@\n' | sort) == "$before" ]] || complain "cube.bouma was changed"
chmod -R u+w cube.bouma
refuse 2 'and not a link; remove it, or give --copy' "$BOUMA" serve --static site cube.bouma
# Only what is new is copied again.
touch -d '2001-01-01' cube.bouma/DATASET
mark=$(stat -c %i site/data/cube.bouma/DATASET)
expect 0 "$BOUMA" serve --static site cube.bouma --copy
[[ $(stat -c %i site/data/cube.bouma/DATASET) == "$mark" ]] || complain "DATASET was copied again"
touch -d '2100-01-01' cube.bouma/DATASET
expect 0 "$BOUMA" serve --static site cube.bouma --copy
[[ $(stat -c %i site/data/cube.bouma/DATASET) != "$mark" ]] || complain "DATASET was not copied again"

# Folders of others, and places that cannot be.
mkdir other && echo mine >other/index.html
refuse 2 'other has other files in it' "$BOUMA" serve --static other cube.bouma
[[ $(<other/index.html) == mine && $(ls other) == index.html ]] || complain "other was changed"
echo '{"listing":2}' >other/listing.json
refuse 2 'give --force' "$BOUMA" serve --static other cube.bouma
expect 0 "$BOUMA" serve --static other cube.bouma --force
grep -q bouma-listing other/index.html || complain "nothing was forced"
mkdir empty && expect 0 "$BOUMA" serve --static empty cube.bouma
refuse 2 'lies in the dataset' "$BOUMA" serve --static cube.bouma/site cube.bouma
[[ ! -e cube.bouma/site ]] || complain "cube.bouma/site is left"
touch file && refuse 2 'file is not a folder' "$BOUMA" serve --static file cube.bouma
refuse 2 'no/such' "$BOUMA" serve --static no/such/site cube.bouma
mkdir none && refuse 2 'no dataset' "$BOUMA" serve --static some none

# A dataset that cannot be read: no page is written.
cp -r cube.bouma damaged.bouma && printf x >damaged.bouma/DATASET
expect 1 "$BOUMA" serve --static late damaged.bouma
[[ ! -e late/index.html && ! -e late/listing.json ]] || complain "a page of nothing"

# Names are encoded.
cp -r cube.bouma 'a b%.bouma'
expect 0 "$BOUMA" serve --static named 'a b%.bouma'
[[ $(jq -r '.datasets[0].url' named/listing.json) == data/a%20b%25.bouma/ ]] || complain "$(<named/listing.json)"
finish
