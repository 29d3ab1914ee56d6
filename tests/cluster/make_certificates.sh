#!/bin/sh
# make_certificates.sh FOLDER: makes the certificates of the tests there, valid from 2020 to 2120.
set -eu
cd "$1"
BOOKS=$(mktemp -d)
trap 'rm -rf "$BOOKS"' EXIT
printf '%s\n' '[ca]' 'default_ca=us' '[us]' "database=$BOOKS/index" "new_certs_dir=$BOOKS" \
    'rand_serial=yes' 'default_md=sha256' 'policy=any' 'unique_subject=no' \
    '[any]' 'organizationName=optional' 'commonName=supplied' > "$BOOKS/config"
: > "$BOOKS/index"

request() {  # request NAME
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -subj "/O=weft tests/CN=$1" -keyout "$1.key" -out "$BOOKS/$1.csr"
}

sign() {  # sign NAME END EXTENSIONS OPTIONS...
    printf "$3" > "$BOOKS/extensions"
    name=$1 end=$2
    shift 3
    openssl ca -batch -notext -config "$BOOKS/config" -in "$BOOKS/$name.csr" -out "$name.pem" \
        -startdate 20200101000000Z -enddate "$end" -extfile "$BOOKS/extensions" "$@"
}

authority() {  # authority NAME
    request "$1"
    sign "$1" 21200101000000Z 'basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\n' \
        -selfsign -keyfile "$1.key"
}

certificate() {  # certificate NAME AUTHORITY END HOSTS
    request "$1"
    sign "$1" "$3" "subjectAltName=$4\nextendedKeyUsage=serverAuth,clientAuth\n" \
        -cert "$2.pem" -keyfile "$2.key"
}

HERE=DNS:localhost,IP:127.0.0.1,IP:::1
authority ca
authority stranger_ca
certificate task ca 21200101000000Z "$HERE"
certificate elsewhere ca 21200101000000Z DNS:elsewhere.example
certificate expired ca 20210101000000Z "$HERE"
certificate stranger stranger_ca 21200101000000Z "$HERE"
rm -f ca.key stranger_ca.key
