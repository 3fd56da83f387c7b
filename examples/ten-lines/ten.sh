petal create -n 1000000 -p 1% -o seen.petal
echo https://example.com/ | petal add seen.petal
petal check -q seen.petal -e https://example.org/ && echo true || echo false
petal check -q seen.petal -e https://example.com/ && echo true || echo false
