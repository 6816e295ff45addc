package io.github.sealwax.mcp;

import java.util.Map;

/** Makes the question of a confirmation, of the arguments of a call. */
@FunctionalInterface
public interface QuestionOf {
  /**
   * Returns what the user of a call is asked. A client of revision 2026-07-28 brings the answer
   * with the call again: then this is called again too, and a question that differs is asked anew.
   *
   * @param arguments the call's, which nobody can change; no arguments are an empty map
   * @return the question, which the client shows as it is; characters that nobody sees are escaped
   * @throws Exception for a call that is not to run: the client hears of an internal error, and the
   *     log has the name of the exception
   */
  String of(Map<String, Object> arguments) throws Exception;
}
