#!/usr/bin/env bats
# numbers.bats - the tool accepts counts, sizes and rates in the usual notations and in no others.
load helper

capacity_of() { petal plan --json --scheme blocked -n "$1" | field capacity; }
rate_of() { petal plan --json --scheme blocked -n 100 -p "$1" | field target_rate; }
bytes_of() { petal plan --json --scheme blocked -n 1000 --memory "$1" | field bytes; }

@test "a count may be plain, grouped, with an exponent, or with a unit of 1000 or 1024" {
    is "$(capacity_of 58240)" 58240
    is "$(capacity_of 58,240)" 58240
    is "$(capacity_of 1,000,000)" 1000000
    is "$(capacity_of 10M)" 10000000
    is "$(capacity_of 10m)" 10000000
    is "$(capacity_of 2.5k)" 2500
    is "$(capacity_of .5k)" 500
    is "$(capacity_of 1e6)" 1000000
    is "$(capacity_of 1.5E+3)" 1500
    is "$(capacity_of 2000e-3)" 2
    is "$(capacity_of 1G)" 1000000000
    is "$(capacity_of 5B)" 5000000000
    is "$(capacity_of '3 k')" 3000
    is "$(capacity_of 64Ki)" 65536
    is "$(capacity_of 1Mi)" 1048576
}

@test "an invalid count, or one that is not whole, below 1 or above 64 bits, is refused with the reason" {
    for wrong in '' abc 1x 10MB 1,00 1,0000 0x10 ' 5' 5% nan inf 1:2; do
        refuses "-n $wrong: not a count" petal plan -n "$wrong"
    done
    refuses "-n 1.5: not a whole number" petal plan -n 1.5
    refuses "-n 1e-3: not a whole number" petal plan -n 1e-3
    refuses "-n 0: at least 1" petal plan -n 0
    refuses "-n 0k: at least 1" petal plan -n 0k
    refuses "-n -5: a count must be above 0" petal plan -n -5
    for wrong in 18446744073709551616 99999999999999999999999 1e20 20000000T 1e99999999999; do
        refuses "-n $wrong: too large for 64 bits" petal plan -n "$wrong"
    done
}

@test "a size of 1 MB is 1000 kB, and one of 1 MiB or 1 M is 1024 KiB" {
    is "$(bytes_of 64KiB)" 65536
    is "$(bytes_of 64K)" 65536
    is "$(bytes_of 64k)" 65536
    is "$(bytes_of 64KB)" 64000
    is "$(bytes_of 1MB)" 1000000
    is "$(bytes_of 1MiB)" 1048576
    is "$(bytes_of 1M)" 1048576
    is "$(bytes_of 4096)" 4096
    is "$(bytes_of 4096B)" 4096
    is "$(bytes_of 0.5MiB)" 524288
    is "$(bytes_of '2 MiB')" 2097152
}

@test "an invalid size, zero, or one that is too large is refused with the reason" {
    for wrong in '' MiB 5x 5Mi5 5KiBs 5iB; do
        refuses "--memory $wrong: not a size" petal plan -n 5 --memory "$wrong"
    done
    refuses "--memory 0: at least 1" petal plan -n 5 --memory 0
    refuses "--memory -1: a size must be above 0" petal plan -n 5 --memory -1
    refuses "too large for 64 bits" petal plan -n 5 --memory 20000000TiB
    refuses "--memory 1000PiB" petal create -o x -n 5 --memory=1000PiBB
    [ ! -e x ]
}

@test "a rate may be a fraction, a percentage, or one in N" {
    for one_percent in 0.01 .01 1% '1 %' 1e-2 1:100 1/100 '1 in 100' '1 : 100' 10:1k; do
        is "$(rate_of "$one_percent")" 0.01
    done
    is "$(rate_of 0.1%)" 0.001
    is "$(rate_of 1:1M)" 1e-06
    is "$(rate_of 50%)" 0.5
}

@test "a rate of 1 or more is refused, and the message proposes a percentage" {
    refuses "petal: -p 5: a rate must be below 1; did you mean 5%?" petal plan -n 100 -p 5
    refuses "petal: -p 1: a rate must be below 1; did you mean 1%?" petal plan -n 100 -p 1
    refuses "did you mean 0.5e1%?" petal plan -n 100 -p 0.5e1
    for wrong in 100 1e9 100% 200% 1:1 3:2; do
        refuses "-p $wrong: a rate must be below 1" petal plan -n 100 -p "$wrong"
    done
}

@test "a rate of 0 or less, NaN or not a number is refused" {
    for wrong in 0 0% 0.0 -1 -0.5 0:5 1e-999; do
        refuses "-p $wrong: a rate must be above 0" petal plan -n 100 -p "$wrong"
    done
    for wrong in '' nan NaN inf -nan abc 0x1p-4 1:0 1: '1 in' 1%% 0,01; do
        refuses "-p $wrong: not a rate; write 0.01, 1% or 1:1000" petal plan -n 100 -p "$wrong"
    done
}
