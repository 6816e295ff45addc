package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Users who look alike are several, also in a real store. */
class PrincipalsTest {
  private static final List<String> ALIKE =
      List.of("Jos?", "Jos\ufffd", "Jos\u00e9", "Jose\u0301", "Jos\ud83d\ude00");
  private static final List<String> REFUSED = List.of("Jos\ud800", "Jos\ud801", "Jos\udc00");

  @Test
  void whoIsSignedOutIsOneAlone() {
    Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com");
    try (Valkey valkey = new Valkey();
        RedisLedger ledger = new RedisLedger(valkey.url())) {
      Guard guard =
          Guard.builder(codec)
              .principal(context -> Principal.subject((String) context.get("user")))
              .ledger(ledger, LedgerOptions.DEFAULT.withAcceptIssuedSince(Instant.ofEpochSecond(1)))
              // This is not about time, and the machine may be busy.
              .timeLimit(Duration.ofSeconds(60))
              .build();
      Direct server = new Direct(guard, (context, request) -> Map.of("nextCursor", "2"));
      Map<String, Object> tokens = new LinkedHashMap<>();
      for (String user : ALIKE) {
        Object page = server.ask(user, "tools/list", Map.of()).result();
        tokens.put(user, Values.object(page).get("nextCursor"));
      }
      tokens.forEach(
          (user, token) -> {
            for (String asking : ALIKE) {
              assertEquals(asking.equals(user), opens(server, asking, token));
            }
            for (String asking : REFUSED) {
              assertNotNull(server.ask(asking, "tools/list", Map.of("cursor", token)).error());
            }
          });
      for (String user : REFUSED) {
        assertThrows(InvalidArgumentException.class, () -> guard.revoke(Principal.subject(user)));
      }
      for (int out = 0; out < ALIKE.size(); out++) {
        guard.revoke(Principal.subject(ALIKE.get(out)));
        for (int user = 0; user < ALIKE.size(); user++) {
          String asking = ALIKE.get(user);
          assertEquals(user > out, opens(server, asking, tokens.get(asking)));
        }
      }
    }
  }

  private static boolean opens(Direct server, String user, Object token) {
    return server.ask(user, "tools/list", Map.of("cursor", token)).error() == null;
  }
}
