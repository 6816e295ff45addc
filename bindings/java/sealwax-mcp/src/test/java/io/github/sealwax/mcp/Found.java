package io.github.sealwax.mcp;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The outcome of an event of a transcript. */
final class Found {
  final Map<String, Object> event;

  /** The message, for what is echoed. */
  final Map<String, Object> sent;

  final List<Object> asked = new ArrayList<>();

  /** Whether each token that {@code accept} got belongs to no principal. */
  final List<Object> anybodys = new ArrayList<>();

  /** What the ledger was asked, but {@code open}. */
  final List<Object> commands = new ArrayList<>();

  final List<Object> did = new ArrayList<>();
  final List<Object> reported = new ArrayList<>();
  final List<Object> happened = new ArrayList<>();

  /** What is wrong with an event during this one. */
  volatile AssertionError wrong;

  volatile Map<String, Object> delivered;
  volatile Map<String, Object> answered;

  Found(Map<String, Object> event, Map<String, Object> sent) {
    this.event = event;
    this.sent = sent;
  }
}
