# petal.fish - completion of petal(1) for fish. tests/cli/help.bats compares the lists with the tool's own.

# Whether the command line is one of these commands.
function __petal_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

function __petal_needs_command
    test (count (commandline -opc)) -eq 1
end

# An option of some commands: __petal_option 'plan create' -l rate ...
function __petal_option
    complete -c petal -n "__petal_is $argv[1]" $argv[2..-1]
end

complete -c petal -n __petal_needs_command -f
complete -c petal -n __petal_needs_command -l help -s h -d 'help'
complete -c petal -n __petal_needs_command -l version -d 'print the version'
complete -c petal -n __petal_needs_command -a plan -d 'size a filter: memory, bits per key, rate'
complete -c petal -n __petal_needs_command -a create -d 'make an empty filter'
complete -c petal -n __petal_needs_command -a build -d 'build a filter from keys'
complete -c petal -n __petal_needs_command -a add -d 'add keys to a filter, in place'
complete -c petal -n __petal_needs_command -a remove -d 'remove keys from a counting filter, in place'
complete -c petal -n __petal_needs_command -a check -d 'print the keys that are (probably) in a filter'
complete -c petal -n __petal_needs_command -a which -d 'print which of many filters (probably) have a key'
complete -c petal -n __petal_needs_command -a seen -d 'pass on only the lines not seen before'
complete -c petal -n __petal_needs_command -a info -d 'describe filters: kind, size, keys, rate'
complete -c petal -n __petal_needs_command -a verify -d 'check a file\'s checksums, and its answers'
complete -c petal -n __petal_needs_command -a merge -d 'unite filters made with the same options'
complete -c petal -n __petal_needs_command -a intersect -d 'intersect filters made with the same options'
complete -c petal -n __petal_needs_command -a fold -d 'a smaller filter of the same keys, without the keys'
complete -c petal -n __petal_needs_command -a compare -d 'estimate how many keys two filters share'
complete -c petal -n __petal_needs_command -a diff -d 'write a small patch from the old filter to the new'
complete -c petal -n __petal_needs_command -a patch -d 'bring a filter up to date with a patch'
complete -c petal -n __petal_needs_command -a shard -d 'split keys evenly, for a set in several filters'
complete -c petal -n __petal_needs_command -a convert -d 'convert the same bits to another library\'s file, or back'
complete -c petal -n __petal_needs_command -a formats -d 'list the kinds of files that can be read and written'
complete -c petal -n __petal_needs_command -a bench -d 'measure a filter on this machine'
complete -c petal -n __petal_needs_command -a help -d 'tell more about a command'
complete -c petal -n '__petal_is help' -f -a 'plan create build add remove check which seen info verify merge intersect fold compare diff patch shard convert formats bench'

set -l all 'plan create build add remove check which seen info verify merge intersect fold compare diff patch shard convert formats bench'

# The names of the formats that this petal has.
function __petal_formats
    petal formats --json 2>/dev/null | string replace -r '^{"format":"([^"]*)".*' '$1'
end

set -l sized 'plan create build seen bench'
set -l exact 'plan create build'
set -l keyed 'create build add remove check which seen info verify merge intersect fold compare diff patch shard convert bench'
set -l reading 'build add remove check which seen verify shard'

__petal_option $all -s h -l help -d 'help'
__petal_option 'create build merge intersect fold patch' -s o -l output -r -d 'the filter to write'
__petal_option diff -s o -l output -r -d 'the patch to write'
__petal_option $sized -s n -l capacity -x -d 'distinct keys to plan for'
__petal_option $sized -s p -l rate -x -d 'false positives at that many keys'
__petal_option $sized -l memory -x -d 'at most this much memory'
__petal_option 'plan create build bench' -l scheme -x -a 'blocked classic counting static' -d 'layout of the bits'
__petal_option seen -l scheme -x -a 'blocked classic' -d 'layout of the bits'
__petal_option fold -s n -l capacity -x -d 'leave room for so many keys'
__petal_option fold -s p -l rate -x -d 'false positives to stay within'
__petal_option 'plan create build fold' -l bits -x -d 'exactly that many bits'
__petal_option $exact -l hashes -x -d 'bits set per key'
__petal_option $exact -l lines-per-key -x -a '1 2' -d 'cache lines per key'
__petal_option create -l foldable -d 'of a size that fold can make smaller'
__petal_option 'create build' -l grow -d 'grow beyond -n keys'
__petal_option 'create seen' -l window -x -d 'remember the last keys or days'
__petal_option 'add seen' -l time-field -x -d 'the time of a row, for a window'
__petal_option 'add check which seen' -l now -x -d 'the time, for a window of time'
__petal_option 'create build seen' -l seed -x -a random -d 'seed of the hash'
__petal_option $keyed -l secret-file -r -d 'secret of a keyed filter'
__petal_option 'create build' -l metadata -r -d 'text, or @file, to keep in the filter'
__petal_option 'create build' -l template -r -d 'one like this filter'
__petal_option info -l metadata -d 'print the metadata alone'
__petal_option $reading -s 0 -l null -d 'keys end with a NUL byte'
__petal_option $reading -s k -l fields -x -d 'the key is a field of a line'
__petal_option $reading -s t -l delimiter -x -d 'between fields'
__petal_option $reading -l csv -x -d 'the key is a column of CSV'
__petal_option $reading -l header -d 'CSV begins with a header'
__petal_option $reading -l jsonl -x -d 'the key is a value of a JSON line'
__petal_option $reading -l strict -d 'stop at the first row that has no key'
__petal_option $reading -s z -l decompress -d 'unpack files of gzip and zstd'
__petal_option $reading -l crlf -d 'lines end with CR LF'
__petal_option 'build add check which seen' -l words -d 'each word of a row is a key'
__petal_option 'build add check which seen' -l ngrams -x -d 'each so many words are a key'
__petal_option 'build add check which seen' -l kmers -x -d 'each so many characters are a key'
__petal_option 'build add check which seen' -l canonical -d 'of a k-mer of DNA and its reverse complement, the first'
__petal_option 'build add check which seen' -s i -l ignore-case -d 'make keys lower case'
__petal_option 'check seen' -l min -x -d 'the share of a row\'s keys that must be found'
__petal_option "create $reading" -l key-type -x -a 'text utf16le i32 i64 f64 hex base64' -d 'what a line stands for'
__petal_option $reading -l progress -x -a 'auto always lines never' -d 'progress on stderr'
__petal_option 'add check which seen info verify merge intersect fold compare diff patch convert bench' -l from -x -a '(__petal_formats)' -d 'what the file is'
__petal_option convert -l to-scheme -x -a classic -d 'a counting filter without its counts'
__petal_option 'create build merge intersect fold convert' -l to -x -a '(__petal_formats)' -d 'the kind of file to write'
__petal_option 'plan create build merge intersect fold diff patch shard convert' -l force -d 'replace the file'
__petal_option 'create build add remove check seen merge intersect fold diff patch shard convert' -l verbose -d 'say what was done'
__petal_option 'build add remove check which seen info verify merge intersect fold compare diff patch convert bench' -l memory-limit -x -a none -d 'memory that opening a file may take'
__petal_option $reading -l row-limit -x -a none -d 'a longer row is no key'
__petal_option 'create build add remove seen verify merge intersect fold patch convert' -l no-lock -d 'take no lock'
__petal_option 'check which info compare' -l no-verify -d 'do not compare with checksums'
__petal_option 'plan which info verify compare formats bench' -l json -d 'one JSON object per line'
__petal_option plan -l chart -r -d 'draw rate against keys'
__petal_option 'build add remove check which seen shard' -l threads -x -d 'work on that many threads'
__petal_option bench -l seconds -x -d 'how long to measure'
__petal_option check -s v -l invert-match -d 'print the keys certainly not in'
__petal_option check -s c -l count -d 'print only how many'
__petal_option check -s q -l quiet -d 'print nothing'
__petal_option check -s n -l line-number -d 'put line numbers'
__petal_option 'build add remove check which seen shard' -s e -l key -x -d 'take a key'
__petal_option check -l explain -d 'show which bits are read for each key'
__petal_option which -s l -l list -d 'only the names of filters'
__petal_option which -s c -l count -d 'filters, and how many keys'
__petal_option which -l min -x -d 'filters that may have that share of all keys'
__petal_option seen -s f -l file -r -d 'remember in a file'
__petal_option seen -s d -l repeated -d 'print the repeats'
__petal_option verify -l present -r -d 'keys that were added'
__petal_option verify -l absent -r -d 'keys that were not'
__petal_option verify -l recover -d 'make a dirty file clean'
__petal_option verify -l force -d 'a damaged file too'
__petal_option shard -s n -l shards -x -d 'how many shards'
__petal_option shard -s i -l shard -x -d 'print the keys of one shard'
__petal_option shard -s o -l output -r -d 'a file for each: part-%d.txt'
