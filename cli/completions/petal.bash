# petal.bash - completion for petal(1) in bash. tests/cli/help.bats checks that these lists match
# the tool's options.

# Prints the long options of a command.
_petal_options() {
    local size='--capacity --rate --memory --bits --hashes --lines-per-key --scheme'
    local hash='--seed --secret-file' keys
    keys='--key --fields --delimiter --csv --header --jsonl --strict --row-limit --null --crlf --decompress --key-type --progress'
    local rule='--words --ngrams --kmers --canonical --ignore-case'
    local files='--memory-limit --no-lock'
    case $1 in
    plan) echo "$size --json --chart --force" ;;
    create) echo "--output $size --grow --foldable --window $hash --metadata --template --key-type --to --force --no-lock --verbose" ;;
    build) echo "--output $size --grow $hash --metadata --template $keys $rule --threads --to --memory-limit --force --no-lock --verbose" ;;
    add) echo "$keys $rule --time-field --now --threads --from --secret-file $files --verbose" ;;
    remove) echo "$keys --threads --secret-file $files --verbose" ;;
    check) echo "--invert-match --count --quiet --line-number --explain --no-verify $keys $rule --min --now --threads --secret-file --from --memory-limit --verbose" ;;
    which) echo "--list --count --min --json --no-verify $keys $rule --now --threads --secret-file --from --memory-limit" ;;
    index) echo "--output --keys --rate --fold --drop --scheme $hash ${keys#* } $rule --threads --from --no-verify $files --force --verbose" ;;
    seen) echo "--file --repeated --capacity --rate --memory --scheme --window --time-field --now $hash $keys $rule --min --threads --from $files --verbose" ;;
    info) echo '--json --metadata --no-verify --secret-file --from --memory-limit' ;;
    verify) echo "--present --absent --recover --force --json ${keys#* } --secret-file --from $files" ;;
    merge | intersect) echo "--output --from --to --force --secret-file $files --verbose" ;;
    fold) echo "--output --rate --capacity --bits --from --to --force --secret-file $files --verbose" ;;
    compare) echo '--json --no-verify --secret-file --from --memory-limit' ;;
    diff) echo '--output --from --force --secret-file --memory-limit --verbose' ;;
    patch) echo "--output --from --force --secret-file $files --verbose" ;;
    shard) echo "--shards --shard --output $keys --threads --secret-file --force --verbose" ;;
    convert) echo "--to --from --to-scheme --force --secret-file $files --verbose" ;;
    formats) echo '--json' ;;
    bench) echo '--capacity --rate --memory --scheme --seconds --json --secret-file --from --memory-limit' ;;
    esac
}

# Prints words for an option's value. If the value is a file name, prints nothing and returns 1. If
# there is nothing to suggest, prints nothing and returns 0.
_petal_values() {
    case $1 in
    --scheme) echo 'blocked classic counting static' ;;
    --to-scheme) echo 'classic' ;;
    --key-type) echo 'text utf16le i32 i64 f64 hex base64 any' ;;
    --progress) echo 'auto always lines never' ;;
    --seed) echo 'random' ;;
    --from | --to) petal formats --json 2>/dev/null | sed 's/{"format":"\([^"]*\).*/\1/' ;;
    --lines-per-key) echo '1 2' ;;
    --memory-limit | --row-limit) echo 'none' ;;
    --capacity | --rate | --min | --memory | --bits | --hashes | --threads | --seconds | --window | --time-field | --now | --key | --shards | --shard | --ngrams | --kmers | --drop | \
        --fields | --delimiter | --csv | --jsonl | -n | -p | -e | -i | -k | -t) ;;
    *) return 1 ;;
    esac
}

_petal_reply() {
    local word
    COMPREPLY=()
    while read -r word; do
        [ -z "$word" ] || COMPREPLY+=("$word")
    done < <(compgen "$@")
}

_petal() {
    local commands='plan create build add remove check which index seen info verify merge intersect fold compare diff patch shard convert formats bench help'
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-} values
    if [ "$COMP_CWORD" -eq 1 ]; then
        _petal_reply -W "$commands --help --version" -- "$current"
        return
    fi
    if [ "$command" = help ]; then
        _petal_reply -W "$commands keys words" -- "$current"
        return
    fi
    # Bash splits --name=value into three words.
    if [ "$current" = = ]; then
        current=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [ "${current:0:1}" = - ]; then
        _petal_reply -W "$(_petal_options "$command") --help" -- "$current"
        return
    fi
    case "$command $before" in
    "check -n") ;;                                                   # a flag for this command, and
                                                                     # a count for others
    "build -i" | "add -i" | "check -i" | "which -i" | "seen -i") ;; # a flag for this command, and a
                                                                    # number for shard
    *" -"*)
        if values=$(_petal_values "$before"); then
            _petal_reply -W "$values" -- "$current"
            return
        fi
        ;;
    esac
    _petal_reply -f -- "$current"
}

complete -o filenames -F _petal petal
