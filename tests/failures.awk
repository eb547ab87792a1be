# From the output of one cmocka binary to a line for each failure (tests/run.sh).
# Variables: binary, rc (its exit status).
function say(name, text) {
    printf "FAILED: %s: %s: %.220s\n", binary, name, text
    said++
}
function forget() {
    test = what = place = ""
}
/^\[ RUN      \] / { forget(); test = $4 }
/^\[       OK \] / { forget() }
/^ERROR: / && what == "" { what = substr($0, 8) } # of fail_msg
/^\[  ERROR   \] --- [^[]/ && what == "" { what = substr($0, 18) }
/\[   LINE   \] --- / && place == "" {
    place = $0
    sub(/.*\[   LINE   \] --- /, "", place)
    sub(/: error: Failure!.*/, "", place)
}
/^SUMMARY: |runtime error: |^FATAL: / && verdict == "" { verdict = $0 } # of a sanitizer
/[^ ]/ { last = $0 }
/^\[  FAILED  \] / && test != "" && $4 == test {
    say(test, what (place != "" ? " (" place ")" : ""))
    forget()
}
END {
    if (test != "" || verdict != "" || !said) {
        say(test != "" ? test : "exit " rc, verdict != "" ? verdict : test != "" ? "ended with " rc : last)
    }
}
