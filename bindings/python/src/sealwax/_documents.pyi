# ruff: noqa: E501
"""The engine's documents, which docs/engine.md describes. A test of mcp/src/document writes this file."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

ClientValue: TypeAlias = "str | Literal[True]"

class ConfirmFacts(TypedDict):
    fallback: NotRequired[str | None]
    message: NotRequired[str | None]

class Deliver(TypedDict):
    addSessionId: NotRequired[str | None]
    builtinResult: NotRequired[str | None]
    expiresAt: NotRequired[int | None]
    id: NotRequired[str | None]
    negotiated: NotRequired[str | None]
    opened: NotRequired[str | None]
    report: NotRequired[Report | None]
    version: NotRequired[str | None]
    withinMs: int

DestructiveFacts: TypeAlias = "bool | DestructiveOptions"

class DestructiveOptions(TypedDict):
    fallback: NotRequired[str | None]

class BrokeEvent(TypedDict):
    broke: str

class ResultEvent(TypedDict):
    result: ResultFacts

Event: TypeAlias = "BrokeEvent | ResultEvent"

class Fault(TypedDict):
    code: str
    id: NotRequired[str | None]
    kind: Item
    message: str
    method: NotRequired[str | None]
    principal: NotRequired[PrincipalParts | None]
    target: NotRequired[str | None]

class HandleOp(TypedDict):
    by: NotRequired[PrincipalParts | None]
    handle: NotRequired[ClientValue | None]
    keep: NotRequired[bool | None]
    list: NotRequired[str | None]
    maxAge: NotRequired[int | None]
    number: NotRequired[int | None]
    once: NotRequired[bool | None]
    op: Literal["mint"] | Literal["check"] | Literal["mintShort"] | Literal["checkShort"] | Literal["seal"] | Literal["open"] | Literal["end"] | Literal["sealLink"] | Literal["openLink"] | Literal["cursor"] | Literal["position"]
    predecessor: NotRequired[Predecessor | None]
    selfContained: NotRequired[bool | None]
    ttl: NotRequired[int | None]
    type: str

class HandleResult(TypedDict):
    expiresAt: NotRequired[str | None]
    handle: NotRequired[str | None]
    id: str
    predecessor: NotRequired[Predecessor | None]
    principal: NotRequired[dict[str, Any] | None]
    times: NotRequired[HandleTimes | None]
    value: NotRequired[str | None]

class HandleTimes(TypedDict):
    expiresAt: int | None
    issuedAt: int
    needsRenewal: NotRequired[bool | None]
    needsReseal: NotRequired[bool | None]

Item: TypeAlias = "Literal['request-state'] | Literal['cursor'] | Literal['handle'] | Literal['handle-state'] | Literal['link'] | Literal['session']"

class LedgerSettings(TypedDict):
    acceptIssuedSince: NotRequired[int | None]
    clockTolerance: NotRequired[int | None]
    label: NotRequired[str | None]
    local: NotRequired[bool | None]
    reusableRequestState: NotRequired[bool | None]

OnLost: TypeAlias = "Literal['refuse'] | Literal['serve']"

class OpenedSession(TypedDict):
    generation: int
    id: str
    ulid: str
    value: str | None

class Plain(TypedDict):
    passes: Sequence[str]
    send: Sequence[str]

class Predecessor(TypedDict):
    generation: int
    id: str
    issuedAt: int
    startedAt: int
    until: int | None

class PrincipalParts(TypedDict):
    anonymous: NotRequired[bool | None]
    client: NotRequired[str | None]
    issuer: NotRequired[str | None]
    subject: NotRequired[str | None]

Question: TypeAlias = "Literal['principal'] | Literal['ledger'] | Literal['initial'] | Literal['confirm'] | Literal['elicit'] | Literal['body'] | Literal['replay'] | Literal['list_tools']"

class TextsRedisAnswer(TypedDict):
    texts: Sequence[str]

class TextRedisAnswer(TypedDict):
    text: str

class NumberRedisAnswer(TypedDict):
    number: int

class ErrorRedisAnswer(TypedDict):
    error: str

RedisAnswer: TypeAlias = "TextsRedisAnswer | TextRedisAnswer | NumberRedisAnswer | ErrorRedisAnswer"

class Refused(TypedDict):
    client: NotRequired[str | None]
    code: str
    customMethod: NotRequired[bool | None]
    id: NotRequired[str | None]
    issuer: NotRequired[str | None]
    kind: Item
    level: Literal["warn"] | Literal["error"]
    line: str
    message: str
    method: NotRequired[str | None]
    subject: NotRequired[str | None]
    target: NotRequired[str | None]
    time: str

class Reply(TypedDict):
    allow: NotRequired[str | None]
    done: NotRequired[bool | None]
    error: NotRequired[RpcError | None]
    result: NotRequired[dict[str, Any] | None]
    status: NotRequired[int | None]
    tool: NotRequired[ToolResult | None]

Report: TypeAlias = "bool | str"

Required: TypeAlias = "bool | RequiredNames"

class RequiredNames(TypedDict):
    methods: NotRequired[Sequence[str] | None]
    tools: NotRequired[Sequence[str] | None]

class ResultFacts(TypedDict):
    error: NotRequired[bool | None]
    members: NotRequired[ResultMembers | None]
    noMeta: NotRequired[bool | None]

class ResultMembers(TypedDict):
    cacheScope: NotRequired[ClientValue | None]
    nextCursor: NotRequired[ClientValue | None]
    requestState: NotRequired[ClientValue | None]
    resultType: NotRequired[ClientValue | None]
    ttlMs: NotRequired[ClientValue | None]

class RpcError(TypedDict):
    code: int
    data: NotRequired[dict[str, Any] | None]
    message: str

Script: TypeAlias = "Literal['open'] | Literal['admit'] | Literal['commit'] | Literal['revoke']"

class SessionSettings(TypedDict):
    heldByServer: NotRequired[bool | None]
    noExpiry: NotRequired[bool | None]
    required: NotRequired[Required | None]
    ttl: NotRequired[int | None]

class Settings(TypedDict):
    confirm: NotRequired[Mapping[str, ConfirmFacts] | None]
    confirmDestructive: NotRequired[DestructiveFacts | None]
    confirmTtl: NotRequired[int | None]
    events: NotRequired[bool | None]
    ledger: NotRequired[LedgerSettings | None]
    only: NotRequired[Mapping[str, Sequence[str]] | None]
    requestStateTtl: NotRequired[int | None]
    sessions: NotRequired[SessionSettings | None]
    timeLimitMs: NotRequired[int | None]
    transport: NotRequired[TransportSettings | None]

class RowsSqliteAnswer(TypedDict):
    rows: Sequence[str | None]

class ErrorSqliteAnswer(TypedDict):
    error: str

SqliteAnswer: TypeAlias = "RowsSqliteAnswer | ErrorSqliteAnswer"

class SqliteStep(TypedDict):
    done: NotRequired[Sequence[str] | None]
    failed: NotRequired[str | None]
    run: NotRequired[Sequence[Statement] | None]
    wait: NotRequired[int | None]

class Statement(TypedDict):
    args: NotRequired[Sequence[str | None] | None]
    reads: NotRequired[bool | None]
    sql: str

class AskStep(TypedDict):
    args: NotRequired[Sequence[str] | None]
    keys: NotRequired[Sequence[str] | None]
    name: Question
    params: NotRequired[Any | None]
    script: NotRequired[Script | None]
    step: Literal["ask"]
    withinMs: NotRequired[int | None]
    events: NotRequired[Sequence[TokenEvent] | None]
    members: NotRequired[Sequence[str] | None]
    refused: NotRequired[Sequence[Refused] | None]
    session: NotRequired[OpenedSession | None]
    set: NotRequired[Sequence[tuple[Sequence[str], Any]] | None]
    whole: NotRequired[bool | None]

class DeliverStep(Deliver):
    step: Literal["deliver"]
    events: NotRequired[Sequence[TokenEvent] | None]
    members: NotRequired[Sequence[str] | None]
    refused: NotRequired[Sequence[Refused] | None]
    session: NotRequired[OpenedSession | None]
    set: NotRequired[Sequence[tuple[Sequence[str], Any]] | None]
    whole: NotRequired[bool | None]

class RespondStep(TypedDict):
    headers: NotRequired[Mapping[str, str] | None]
    step: Literal["respond"]
    events: NotRequired[Sequence[TokenEvent] | None]
    members: NotRequired[Sequence[str] | None]
    refused: NotRequired[Sequence[Refused] | None]
    session: NotRequired[OpenedSession | None]
    set: NotRequired[Sequence[tuple[Sequence[str], Any]] | None]
    whole: NotRequired[bool | None]

class ReplyStep(Reply):
    step: Literal["reply"]
    events: NotRequired[Sequence[TokenEvent] | None]
    members: NotRequired[Sequence[str] | None]
    refused: NotRequired[Sequence[Refused] | None]
    session: NotRequired[OpenedSession | None]
    set: NotRequired[Sequence[tuple[Sequence[str], Any]] | None]
    whole: NotRequired[bool | None]

class DoneStep(HandleResult):
    step: Literal["done"]
    events: NotRequired[Sequence[TokenEvent] | None]
    members: NotRequired[Sequence[str] | None]
    refused: NotRequired[Sequence[Refused] | None]
    session: NotRequired[OpenedSession | None]
    set: NotRequired[Sequence[tuple[Sequence[str], Any]] | None]
    whole: NotRequired[bool | None]

class DropStep(TypedDict):
    step: Literal["drop"]
    events: NotRequired[Sequence[TokenEvent] | None]
    members: NotRequired[Sequence[str] | None]
    refused: NotRequired[Sequence[Refused] | None]
    session: NotRequired[OpenedSession | None]
    set: NotRequired[Sequence[tuple[Sequence[str], Any]] | None]
    whole: NotRequired[bool | None]

class ReplayedStep(TypedDict):
    step: Literal["replayed"]
    events: NotRequired[Sequence[TokenEvent] | None]
    members: NotRequired[Sequence[str] | None]
    refused: NotRequired[Sequence[Refused] | None]
    session: NotRequired[OpenedSession | None]
    set: NotRequired[Sequence[tuple[Sequence[str], Any]] | None]
    whole: NotRequired[bool | None]

Step: TypeAlias = "AskStep | DeliverStep | RespondStep | ReplyStep | DoneStep | DropStep | ReplayedStep"

class StoreStep(TypedDict):
    done: NotRequired[Sequence[str] | None]
    failed: NotRequired[str | None]
    load: NotRequired[Sequence[Sequence[str]] | None]
    own: NotRequired[bool | None]
    plain: NotRequired[Plain | None]
    send: NotRequired[Sequence[str] | None]
    unfit: NotRequired[str | None]
    warned: NotRequired[Sequence[str] | None]

class TextContent(TypedDict):
    text: str
    type: str

class TokenEvent(TypedDict):
    age: NotRequired[int | None]
    client: NotRequired[str | None]
    customMethod: NotRequired[bool | None]
    event: Literal["opened"] | Literal["sealed"] | Literal["ended"] | Literal["revoked"]
    id: NotRequired[str | None]
    issuer: NotRequired[str | None]
    keyId: NotRequired[str | None]
    kind: Item
    method: NotRequired[str | None]
    subject: NotRequired[str | None]
    target: NotRequired[str | None]

class ToolResult(TypedDict):
    _meta: NotRequired[dict[str, Any] | None]
    content: NotRequired[Sequence[TextContent] | None]
    inputRequests: NotRequired[dict[str, Any] | None]
    isError: NotRequired[bool | None]
    requestState: NotRequired[str | None]
    resultType: NotRequired[str | None]

class TransportSettings(TypedDict):
    declares: NotRequired[bool | None]
    idle: NotRequired[int | None]
    modern: NotRequired[bool | None]
    onLost: NotRequired[OnLost | None]
    required: NotRequired[bool | None]
    sep1359: NotRequired[bool | None]
    ttl: NotRequired[int | None]
