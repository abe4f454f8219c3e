"""Correct words: all words of at least five letters in Kafka's own definitions of 2026-08.

Written by scripts/known_words.py.
"""

from typing import Final

# fmt: off
KNOWN: Final = frozenset(
    """
    ability abort aborted aborting about above absolute accept acceptable accepted accepts access accessed according
    accumulate acked acknowledge acknowledgement acknowledgements acknowledgments acquire acquired acquisition
    across active actual actually added adding addition additional address advance affected after against algorithm
    aligned alignment alive allocate allow allowed allowing allows along already alter alteration alterations
    although always anything apache appear append appended appending application applied applies apply approximately
    archived around array arrays assign assigned assignment assignments assignor associated assumes async attempt
    attempting authenticate authenticated authentication authenticator authorization authorized automatic
    automatically available avoid await aware backward backwards based baseline basically batch batches batching
    because before begin beginning behavior being belongs below beyond binary bitfield block blocked boolean
    boundaries boundary break broker brokers browse buffer builder bumped bumping bytes calculation called caller
    cancel candidate candidates cannot carries carry cases catch categorized caught cause caused change changelog
    changes changing check checked checking chosen class classic clean clear cleared client clients clock close
    cluster codec codes color commit commits committed common communicate compact compatibility compatible complete
    completed component components compress compression computation computed concrete conduct config configs
    configuration configurations configured connect connection consecutive considered considering considers consume
    consumed consumer consumers consumption contain contained containing contains control controlled controller
    controllers controls conventionally coordinator coordinators copartition copartitioned cordoned correlation
    correspond corresponding corresponds count counter create created creation creations credential credentials
    cumulative current currently cursor custom debug decided default defaults defined defines delayed delegation
    delete deleted deleting deletion deletions delivery delta deltas deprecate deprecated deprecates describe
    described description descriptions despite detail details detected detection determine determined
    deterministically differ difference different directly directories directory disabled disallow disambiguate
    discard discover discovery diverge divergence diverging documentation downgrade downgraded downgrades dropped
    duration during dynamically earliest early easily either elect elected election elections elects eligible
    embedded emitted empty enable enabled enables encode encoded encoding encounters endpoint endpoints enforced
    enough entire entities entity entries entry enumerated envelope epoch epochs equal equals error errors event
    every everything exact example exceeded except exception exceptions exclude exclusively exist existing expected
    expiration expire expired expires expiry exposed expression expressions factor failed failure fallback false
    favor feature features fence fenced fencing fetch fetched fetches fetching field fields filled filter filtered
    filters finalized finished first fixes flexible float follower followers following footer forget forgotten
    format forward forwarding found function functionality future generate generated generation getting given global
    goats going granted granting graph greater group groups guarantee handle handled handles handshake header
    heartbeat heartbeats higher highest holds honored hosted hosting hostname hosts however https identical
    identifier identify identifying identities identity ignored illegal immediately implementation implemented
    implements incarnation include included includes including inclusion inclusive inconsistent incorrect
    incorrectly increase increasing incremental incremented increments index indexes indicate indicated indicates
    indicating indices individual information infos infrastructure initial initialization initialize initialized
    initializing initially input insert inside instance instead intended intends interactive internal internally
    interrupted interval introduces invalid involved isolation issue issued issues iterations itself joins kafka
    known knows kraft larger largest latest leader leaders least leave leaving legacy length level librdkafka
    lifetime limit listed listeners listing lists local locally locked longer looping lossless lossy lower lowest
    maintain makes making manual mapped mappings marker markers marks match matched matches matching maximal maximum
    means mechanism mechanisms member members membership message messages metadata metrics might migrate migrating
    migration millis milliseconds minimum mismatches missing monotonic monotonically moved multiple named names
    needs negotiated negotiation nested never newer newly nodes normal nullable number observers occur offline
    offset offsets older omitted ongoing operation operations optimal optimized option optional optionally order
    ordering original other otherwise owned owner owners paired pairs parameters parses particular partition
    partitioned partitions passed password pattern pending perform performed period permanent permanently permission
    persisted phase place placeholder plugin point points populated populates position possible predecessor
    preferred prefix prepared preparing present previous principal principals prior proceed process processed
    processing processor produce produced producer producers protobuf protocol protocols provide provided providing
    queried queries quorum quota quotas racks random range rather reached reaches reaching reading reads ready
    reason reasons reassign reassignment reassignments rebalance rebalanced rebalancing receive received receives
    receiving recent reconstructed record recorded records recovered recovering recovery redirected refactored
    referenced regex register registration regular reject rejected rejoin rejoins related relationships release
    relevant remote remove removed removes removing renames renew renewal renewed renewer renewers reorder
    reorganizes repartition replace replaced replaces replica replicas replication reported represent representation
    represents request requested requester requesting requests require required requires resigning resolved resolves
    resource resources responding response responses restarts result results resume retain retained retention
    retriable retry return returned returning returns reused revocation revoke revoked rewritten rolling running
    salted schema scheme scram second security segment segments selected sending sends sensitive separately sequence
    serialized server servers session setting several shape share sheep should shutdown signalled signify simple
    since single smaller snapshot snapshots software solicitation solicits sorted source special specific specified
    specifies specifying spurious stable stamp standard standby start started starting starts state states static
    status still storage store stored stores stream streams strict string struct style subscribed subscription
    subscriptions subsequent subset subtopologies subtopology subtract succeeded successful successfully successor
    successors suggest summarizing summary supplied support supported supports suppressed surface swapped synonym
    synonyms table tagged target tasks telemetry temporality terminating textual their there therefore these those
    thread throttle throttled throttling through tiered timeout timestamp timing together token tokens topic topics
    topologies topology total track transaction transactional transactions treats tried trigger truncated truncation
    types unaligned unavailable uncertain unchanged unclean understand unfence unfenced uninitialized union unique
    uniquely unknown unregister unsafe unspecified unstable unused update updated updates upgrade upgraded upload
    upsertions usable users using valid validate validated validates validation value values verify version versions
    violate violation visibility visible volume voted voter voters wanted wants warmup water watermark where whether
    which while whole whose within would writable write writes writing written wrote zombie
    """.split()
)
