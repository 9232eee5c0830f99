"""InitProducerId without a transactional id."""

from harness import case

ALL = range(6)


def init(b, v, **more):
    return b.call("InitProducerId", v, dict({"transactionalId": None, "transactionTimeoutMs": 60000}, **more))


@case("init-producer-id/plain", versions=ALL)
def plain(b, v):
    first, second = init(b, v), init(b, v)
    b.note("rising", second["producerId"] > first["producerId"])


@case("init-producer-id/timeout", versions=[0, 5], each={"0": 0, "-1": -1, "max": 2147483647})
def timeout(b, v, ms):
    """Without a transaction its timeout means nothing."""
    init(b, v, transactionTimeoutMs=ms)


@case("init-producer-id/empty-id", versions=ALL)
def empty_id(b, v):
    init(b, v, transactionalId="")


@case("init-producer-id/own-id-again", versions=[3, 4, 5])
def own_again(b, v):
    """An idempotent producer that asks for its next epoch."""
    first = init(b, v)
    init(b, v, producerId=first["producerId"], producerEpoch=first["producerEpoch"])
    init(b, v, producerId=first["producerId"], producerEpoch=7)


@case("init-producer-id/foreign-id", versions=[3, 5])
def foreign(b, v):
    init(b, v, producerId=123456789, producerEpoch=3)


@case("init-producer-id/id-without-epoch", versions=[3, 4, 5])
def id_without_epoch(b, v):
    init(b, v, producerId=5, producerEpoch=-1)
    init(b, v, producerId=-1, producerEpoch=5)
    init(b, v, producerId=-2, producerEpoch=-2)
    init(b, v, producerId=5, producerEpoch=32767)


@case("init-producer-id/unstable-version")
def unstable(b):
    init(b, 6)
