<?php

// A stateless MCP server over HTTP, of revision 2026-07-28: a list of notes in pages, and a tool that asks before it deletes.
//
//     export SEALWAX_LIBRARY=/usr/local/lib/libsealwax.so SEALWAX_KEYS="$(sealwax keygen)"
//     php -d ffi.enable=1 -S 127.0.0.1:8000 examples/php/server.php
//
// With NOTES_USERS, a JSON object of users by the SHA-256 of their bearer tokens, it asks for one. NOTES is the file of what was
// deleted. A state or a cursor can be sent twice, which does no harm here: single use needs a ledger.

declare(strict_types=1);

require __DIR__ . '/Guard.php';

use Sealwax\{Guard, Principal, Request};

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const PAGE = 10;

/** An error that the client is told. */
final class Refusal extends Exception
{
    public function __construct(int $code, string $message, public readonly array $data = [])
    {
        parent::__construct($message, $code);
    }
}

function notes(?int $deleted = null): array
{
    $file = getenv('NOTES') ?: sys_get_temp_dir() . '/sealwax-notes';
    $deleted === null || file_put_contents($file, "$deleted\n", FILE_APPEND | LOCK_EX);
    return array_diff(range(1, 25), is_file($file) ? file($file, FILE_IGNORE_NEW_LINES) : []);
}

function page(Request $request): array
{
    $rest = array_values(array_filter(notes(), fn(int $id) => $id > (int) $request->cursor()));
    $page = array_slice($rest, 0, PAGE);
    $resources = array_map(fn(int $id) => ['uri' => "note:///$id", 'name' => "Note $id"], $page);
    $next = count($rest) > PAGE ? ['nextCursor' => (string) end($page)] : []; // The guard seals it.
    return ['resources' => $resources, ...$next, 'ttlMs' => 0, 'cacheScope' => 'private'];
}

function tools(): array
{
    $schema = ['type' => 'object', 'properties' => ['id' => ['type' => 'integer']], 'required' => ['id']];
    $told = ['description' => 'Delete a note, once the user has confirmed it.', 'inputSchema' => $schema];
    return ['tools' => [['name' => 'delete_note', ...$told]], 'ttlMs' => 60000, 'cacheScope' => 'public'];
}

function called(Request $request): array
{
    $told = fn(string $text, bool $isError = false) => ['content' => [['type' => 'text', 'text' => $text]], 'isError' => $isError];
    ($request->params->name ?? null) === 'delete_note' || throw new Refusal(-32602, 'Unknown tool');
    $id = $request->params->arguments->id ?? null;
    if (!is_int($id) || !in_array($id, notes(), true)) {
        return $told('id: expected the number of a note', isError: true);
    }
    if ($request->state() === null) {
        $form = ['type' => 'object', 'properties' => ['confirm' => ['type' => 'boolean']], 'required' => ['confirm']];
        isset($request->params->_meta->{META . 'clientCapabilities'}->elicitation) || throw new Refusal(-32021,
            'Missing required client capability', ['requiredCapabilities' => ['elicitation' => ['form' => new stdClass()]]]);
        $asked = ['mode' => 'form', 'message' => "Delete note $id?", 'requestedSchema' => $form];
        return ['resultType' => 'input_required', 'requestState' => 'asked', // The guard seals it for this call of this user.
            'inputRequests' => ['confirm' => ['method' => 'elicitation/create', 'params' => $asked]]];
    }
    $answer = $request->params->inputResponses->confirm ?? null;
    if (($answer->action ?? null) !== 'accept' || ($answer->content->confirm ?? null) !== true) {
        return $told("note $id kept");
    }
    notes(deleted: $id);
    return $told("note $id deleted");
}

function handled(Request $request): array
{
    return ['resultType' => 'complete', ...match ($request->method) {
        'server/discover' => ['supportedVersions' => [VERSION], 'capabilities' => ['tools' => new stdClass(),
            'resources' => new stdClass()], 'ttlMs' => 60000, 'cacheScope' => 'public'],
        'resources/list' => page($request),
        'tools/list' => tools(),
        'tools/call' => called($request),
        default => str_starts_with($request->method, 'notifications/') ? [] : throw new Refusal(-32601, 'Method not found'),
    }];
}

/** Returns the message, if its headers say the same as it does. */
function received(): object
{
    $message = json_decode(file_get_contents('php://input'));
    is_object($message) || throw new Refusal(-32700, 'Parse error: expected a JSON-RPC message');
    is_string($message->method ?? null) && is_object($message->params ?? null)
        && (!property_exists($message, 'id') || is_string($message->id) || is_int($message->id))
        || throw new Refusal(-32600, 'Invalid request: expected a method, params, and an id that is a text or an integer');
    $header = fn(string $name): ?string => $_SERVER["HTTP_$name"] ?? null;
    $version = $message->params->_meta->{META . 'protocolVersion'} ?? null;
    $name = $message->method === 'tools/call' ? $message->params->name ?? null : $header('MCP_NAME');
    [$version, $message->method, $name] === array_map($header, ['MCP_PROTOCOL_VERSION', 'MCP_METHOD', 'MCP_NAME'])
        || throw new Refusal(-32020, 'Header mismatch: expected MCP-Protocol-Version, Mcp-Method and Mcp-Name as in the message');
    $version === VERSION || throw new Refusal(-32022, 'Unsupported protocol version',
        ['supported' => [VERSION], 'requested' => $version]);
    return $message;
}

function respond(int $status, ?array $answer = null, string ...$headers): never
{
    http_response_code($status);
    array_map(header(...), ['Content-Type: application/json', ...$headers]);
    exit($answer === null ? '' : json_encode(['jsonrpc' => '2.0', ...$answer], JSON_THROW_ON_ERROR));
}

ini_set('display_errors', '0'); // What PHP finds is for the log: a client is told of it only that the server failed.
$_SERVER['REQUEST_METHOD'] === 'POST' || respond(405, null, 'Allow: POST');
// A page in a browser must not reach a server on its user's machine.
isset($_SERVER['HTTP_ORIGIN']) && respond(403);
$users = getenv('NOTES_USERS') ? json_decode(getenv('NOTES_USERS'), true, flags: JSON_THROW_ON_ERROR) : null;
$bearer = preg_replace('/^Bearer /i', '', $_SERVER['HTTP_AUTHORIZATION'] ?? '');
$user = $users[hash('sha256', $bearer)] ?? null;
$users === null || is_string($user) || respond(401, null, 'WWW-Authenticate: Bearer');

$message = null;
try {
    $message = received();
    $guard = Guard::fromEnvironment(audience: 'https://notes.example.com');
    $answer = $guard->serve($message, handled(...), new Principal(subject: $user, anonymous: $users === null));
} catch (Refusal $refusal) {
    $error = ['code' => $refusal->getCode(), 'message' => $refusal->getMessage(), 'data' => $refusal->data];
    $answer = ['error' => (object) array_filter($error)];
} catch (Throwable $failure) {
    error_log("notes: $failure");
    $answer = ['error' => (object) ['code' => -32603, 'message' => 'Internal error']];
}
isset($message) && !isset($message->id) && respond(202);
$status = [0 => 200, -32603 => 200, -32601 => 404][$answer['error']->code ?? 0] ?? 400;
respond($status, ['id' => $message->id ?? null, ...$answer]);
