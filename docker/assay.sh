#!/bin/sh
# assayd in a container: adds the password of a secret's file to the connection string. Commands inside
# (docker compose exec server assay token create) go through it as well.
set -eu
# shellcheck disable=SC2089,SC2090  # the quotes are for libpq
if [ -n "${ASSAY_PASSWORD_FILE:-}" ]; then
    password=$(sed "s/[\\\\']/\\\\&/g" "$ASSAY_PASSWORD_FILE")
    ASSAY_DATABASE="$ASSAY_DATABASE password='$password'"
    export ASSAY_DATABASE
    unset ASSAY_PASSWORD_FILE
fi
exec assayd "$@"
