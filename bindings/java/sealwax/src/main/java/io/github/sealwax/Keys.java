package io.github.sealwax;

/** Keys of a {@link KeyRing}: a key, or those of another ring. */
public sealed interface Keys permits Key, KeyRing {}
