# ten.sh - creates, saves, opens and queries a filter.
petal create -n 1000000 -p 1% -o seen.petal
petal add seen.petal -e https://example.com/
petal check -q seen.petal -e https://example.org/ && echo true || echo false
petal check -q seen.petal -e https://example.com/ && echo true || echo false
