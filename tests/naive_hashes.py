"""The hashes of a row, word by word in whole numbers, as their authors published the steps."""

WORD = (1 << 64) - 1


def murmur_finaliser(x):
    """``fmix64`` of MurmurHash3."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & WORD
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & WORD
    return x ^ x >> 33


def splitmix_finaliser(x):
    """The output function of SplitMix64."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def hash_row(words):
    # the first digits of π, as in Blowfish
    one, other = 0x243F6A8885A308D3, 0x13198A2E03707344
    for word in words:
        one = murmur_finaliser(one ^ word)
        other = splitmix_finaliser(other ^ word)
    return one, other
