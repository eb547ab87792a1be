# shellcheck shell=bash disable=SC2154
# Part of demo.sh: real data. Each function prints the id of a data set that is ready; what an
# earlier demonstration brought in is taken again.

fashion=/usr/share/datasets/fashion-mnist
stamps=/usr/share/tuxpaint/stamps

# ready dataset|weights NAME: the id of the newest ready one of that name.
ready() {
    "$assayd" "$1" list | awk -v name="$2" '$3 == name && $4 == "ready" && !n++ { print $2 }'
}

# import NAME CREATE-OPTION...: the id of the ready set NAME, made from the options when there is
# none. One that was refused or never finished has the name: then another is taken.
import() {
    local name=$1 id
    shift
    id=$(ready dataset "$name")
    if [ -z "$id" ]; then
        echo "importing $name" >&2
        id=$("$assayd" dataset create --name "$name" "$@" 2>"$scratch/refusal") ||
            id=$("$assayd" dataset create --name "$name-$(date +%s)" "$@")
    fi
    echo "$id"
}

# 70,000 pictures, of one channel, or of three with `--channels 3`.
fashion_mnist() {
    import "fashion-mnist${1:+-rgb}" --layout idx "$@" \
        --classes "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot" \
        "$fashion"/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz
}

# The photographs among Tux Paint's stamps: cut out of their background, which the import makes
# white. Drawings and toys stay away.
copy_class() { # CLASS FOLDER
    mkdir -p "$scratch/photographs/$1"
    find "$stamps/$2" -name '*.png' -not -path '*/cartoon/*' -not -path '*/toys/*' \
        -not -path '*/plastic/*' -not -name hedgehog.png -not -name echidna.png \
        -exec cp -t "$scratch/photographs/$1" {} +
}
photograph_set() { # SIDE
    copy_class bird animals/birds
    copy_class mammal animals/mammals
    copy_class flower plants/flowers
    copy_class fruit food/fruit
    copy_class vegetable food/vegetables
    tar -cf "$scratch/photographs.tar" -C "$scratch/photographs" .
    import "photographs-$1" --layout archive --image-size "$1" "$scratch/photographs.tar"
}

# The first set of the user's C-MAPSS folder, or simulated engines in the same columns.
engine_set() {
    local train set
    if [ -z "${CMAPSS:-}" ]; then
        "$assayd" simulate turbofan "$scratch/engines"
        import simulated-turbofans --layout cmapss "$scratch"/engines/{train,test,RUL}_FD.txt
        return
    fi
    train=$(find "$CMAPSS" -maxdepth 1 -name 'train_*.txt' | sort | head -1)
    if [ -z "$train" ]; then
        echo "CMAPSS=$CMAPSS has no train_*.txt" >&2
        return 1
    fi
    set=$(basename "$train" .txt)
    set=${set#train_}
    import "turbofans-$set" --layout cmapss "$CMAPSS"/{train,test,RUL}_"$set".txt
}
