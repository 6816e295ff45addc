package io.github.sealwax;

import io.github.sealwax.internal.Documents;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The places where the messages of a method carry a token. For adapters.
 *
 * @param kind the kind of token, {@code request-state} or {@code cursor}; the label of a cursor is
 *     the method
 * @param param the parameter of the request in which it comes back
 * @param result the member of the result in which it leaves
 * @param target the parameter that names the target of the request of a {@code requestState}
 * @param needsCaller whether its handler may make such a token, and does not run without a caller
 */
public record TokenFields(
    String kind, String param, String result, @Nullable String target, boolean needsCaller) {
  /** Returns those of a method; {@code null} if its messages carry none. */
  public static @Nullable TokenFields of(String method) {
    Map<String, Object> found = Documents.tokenFields(method);
    return found == null
        ? null
        : new TokenFields(
            (String) found.get("kind"),
            (String) found.get("param"),
            (String) found.get("result"),
            (String) found.get("target"),
            (Boolean) found.get("needsCaller"));
  }
}
