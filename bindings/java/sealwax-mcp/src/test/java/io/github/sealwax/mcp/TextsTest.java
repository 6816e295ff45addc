package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.modelcontextprotocol.common.McpTransportContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A text of an author's is Unicode, or is refused before it becomes anything else. */
class TextsTest {
  private static final String SESSION = "io.modelcontextprotocol/session";
  private static final String LONE = "Jos\ud800";

  private final Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com");

  private static Principal principal(McpTransportContext context) {
    return Principal.subject((String) context.get("user"));
  }

  /** Texts that look alike in UTF-8 if what it cannot hold is replaced. */
  private static final List<String> ALIKE =
      List.of(
          "Jos?",
          "Jos\ufffd",
          "Jos\u00e9",
          "Jose\u0301",
          "Jos\ud83d\ude00",
          LONE,
          "Jos\ud801",
          "Jos\udc00",
          "Jos\udc01\ud800");

  @Test
  void twoPrincipalsThatDifferNeverMeetOrAreRefused() {
    Guard guard = Guard.builder(codec).principal(TextsTest::principal).build();
    ReferenceHandles rows = guard.referenceHandles("row");
    Direct server =
        new Direct(
            guard,
            (context, request) ->
                switch (request.method()) {
                  case "tools/list" -> Map.of("tools", List.of(), "nextCursor", "2");
                  default -> {
                    Object row = Values.object(request.params()).get("row");
                    yield Map.of(
                        "row",
                        row == null
                            ? rows.mint(context).handle()
                            : rows.check(context, row).handle());
                  }
                });
    int met = 0;
    for (String one : ALIKE) {
      for (String other : ALIKE) {
        if (!one.equals(other)) {
          met += meet(server, one, other, "tools/list", "nextCursor", "cursor");
          met += meet(server, one, other, "play", "row", "row");
        }
      }
    }
    // Five are Unicode.
    assertEquals(2 * 5 * 8, met);
  }

  /** What one got, the other cannot use. */
  private static int meet(
      Direct server, String one, String other, String method, String member, String param) {
    Object token = token(server, one, method, member);
    if (token == null) {
      return 0;
    }
    Map<String, Object> params = Map.of(param, token);
    assertNotNull(Values.object(server.ask(one, method, params).result()).get(member));
    boolean isRefused;
    try {
      isRefused = server.ask(other, method, params).error() != null;
    } catch (HandleRefused refused) {
      isRefused = true;
    }
    assertEquals(true, isRefused, () -> other + " uses a token of " + one);
    return 1;
  }

  private static Object token(Direct server, String user, String method, String member) {
    try {
      return Values.object(server.ask(user, method, Map.of()).result()).get(member);
    } catch (HandleRefused refused) {
      return null;
    }
  }

  @Test
  void asSettings() {
    for (Runnable set :
        List.<Runnable>of(
            () -> build(it -> it.only(LONE, List.of("id"))),
            () -> build(it -> it.only("play", List.of(LONE))),
            () -> build(it -> it.ledger(new MemoryLedger(), label())),
            () ->
                build(it -> it)
                    .sessions(Sessions.Settings.heldByServer().required(List.of(LONE), List.of())),
            () -> build(it -> it).referenceHandles(LONE),
            () -> build(it -> it).selfContainedHandles(LONE, Object.class),
            () -> Principal.of(LONE, "client", "subject"),
            () -> Principal.of("issuer", LONE, "subject"),
            () -> Principal.subject(LONE))) {
      assertThrows(InvalidArgumentException.class, set::run);
    }
  }

  private static LedgerOptions label() {
    return LedgerOptions.DEFAULT.withLabel(LONE);
  }

  private Guard build(java.util.function.UnaryOperator<Guard.Builder> more) {
    return more.apply(Guard.builder(codec).anonymous()).build();
  }

  @Test
  void asValues() {
    Guard guard = build(it -> it);
    Sessions<Object> sessions =
        guard.sessions(
            Sessions.Settings.of(
                Object.class,
                context -> context.get("user").equals("lone") ? Map.of(LONE, 1) : "x"));
    SelfContainedHandles<Object> handles = guard.selfContainedHandles("basket", Object.class);
    Direct server =
        new Direct(
            guard,
            (context, request) -> {
              OpenedHandle<Object> opened =
                  handles.open(context, handles.seal(context, "x").handle());
              Session<Object> session = sessions.of(context);
              for (Runnable make :
                  List.<Runnable>of(
                      () -> handles.seal(context, LONE),
                      () -> handles.renew(context, opened, List.of(LONE)),
                      () -> session.write(LONE),
                      () -> guard.state(context, Map.of("a", LONE)))) {
                assertThrows(InvalidArgumentException.class, make::run);
              }
              // A client's is another thing: it is no handle.
              assertThrows(HandleRefused.class, () -> handles.open(context, LONE));
              return new HashMap<>(Map.of("made", true));
            });
    assertNotNull(server.ask("lone", "sessions/create", Map.of()).error());
    Object session =
        Values.object(server.ask("a", "sessions/create", Map.of()).result()).get("session");
    Map<String, Object> params = Map.of("name", "play", "_meta", Map.of(SESSION, session));
    Object result = server.ask("a", "tools/call", params).result();
    assertEquals(true, Values.object(result).get("made"));
  }
}
