package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Library;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** What most tests begin with: an engine that counts and may fail, and refusals that are kept. */
abstract class Guarded {
  static final Map<String, Object> NO_PARAMS = Map.of();
  static final String SESSION = "io.modelcontextprotocol/session";

  final Counting counting = new Counting();
  final Library library = Library.of(counting, 2);
  final Codec codec =
      Access.build(
          Codec.builder("https://mcp.example.com")
              .keys(KeyRing.of(Key.generate()))
              .payloadLimit(1024),
          library);
  final List<Refusal> refusals = new CopyOnWriteArrayList<>();

  /** Begins a guard whose user is the context's. */
  Guard.Builder builder() {
    return Guard.builder(codec)
        .principal(context -> Principal.subject((String) context.get("user")))
        .onRefused(refusals::add);
  }

  static List<String> codes(List<Refusal> refusals) {
    return refusals.stream().map(Refusal::code).toList();
  }

  List<String> codes() {
    return codes(refusals);
  }
}
