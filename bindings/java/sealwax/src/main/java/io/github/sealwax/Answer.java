package io.github.sealwax;

import io.github.sealwax.internal.Documents;
import org.jspecify.annotations.Nullable;

/**
 * What to send to the client. All refusals of a profile get the same answer, so that a client
 * cannot learn which check failed; any other error is an internal error.
 */
public final class Answer {
  private static final int OK = 0;

  private Answer() {}

  /**
   * Returns the answer to a refusal, as JSON: {@code {"error": …}} holds a JSON-RPC error object,
   * {@code {"httpStatus": …}} a bare status, and {@code {"toolResult": …}} the result of a tool
   * call.
   */
  public static String of(Profile profile) {
    return Documents.answer(profile.toString(), OK, null);
  }

  /** Returns the answer to an error, as JSON. */
  public static String of(Profile profile, Throwable error) {
    return of(profile, error, null);
  }

  /**
   * Returns the answer to an error, as JSON.
   *
   * @param sessionId the client's: it is echoed only if the profile does so, and only if it is well
   *     formed
   */
  public static String of(Profile profile, @Nullable Throwable error, @Nullable String sessionId) {
    int status = OK;
    if (error != null) {
      Code code = error instanceof SealwaxException ours ? ours.code() : Code.INTERNAL_ERROR;
      status = code.status();
    }
    return Documents.answer(profile.toString(), status, sessionId);
  }
}
