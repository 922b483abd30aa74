/**
 * Keeps the number of packs bounded: our small ones are put together into one, object by object as they are,
 * since every delta of ours points backwards within its own pack. Packs of others are never touched.
 * Invariant: an object is in a durable pack at every moment, and old packs go only after the new one is there.
 */
