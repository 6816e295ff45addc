<?php

// A guard for MCP servers in PHP: `requestState` and cursors leave sealed, and come back opened. Copy it. It carries out what
// docs/engine.md specifies, over the C library, with PHP 8.1 or later and `ffi.enable=1`. SEALWAX_LIBRARY is the path of
// libsealwax.so as it is installed, SEALWAX_KEYS what `sealwax keygen` prints.

declare(strict_types=1);

namespace Sealwax;

use Closure, FFI, FFI\CData, LogicException, RuntimeException, stdClass, Throwable, WeakReference;

final class Library
{
    private static ?FFI $ffi = null;

    public static function get(): FFI
    {
        return self::$ffi ??= self::load((string) getenv('SEALWAX_LIBRARY'));
    }

    private static function load(string $library): FFI
    {
        $header = dirname($library, 2) . '/include/sealwax.cdef.h';
        is_readable($library) && is_readable($header) || throw new RuntimeException(
            "set SEALWAX_LIBRARY to the path of an installed libsealwax.so: cannot read \"$library\" and \"$header\"");
        $ffi = FFI::cdef(file_get_contents($header), $library);
        $ffi->sealwax_abi_version() === $ffi->SEALWAX_ABI_VERSION || throw new RuntimeException("$header: install it anew");
        return $ffi;
    }

    /** Calls a function, which gets its error too. It fails by a mistake of this server, whose message is for the log alone. */
    public static function call(string $name, mixed ...$arguments): void
    {
        $error = self::get()->new('sealwax_error');
        $status = self::get()->{"sealwax_$name"}(...[...$arguments, FFI::addr($error)]);
        $status === 0 || throw new RuntimeException(FFI::string($error->message), $status);
    }
}

/** A guard of the engine, or an exchange: `kind` and `texts` are its last answer. */
final class Machine
{
    public int $kind;
    public array $texts;
    private CData $pointer;

    /** @param list<string|bool|null> $texts a boolean is a client's value that is no text */
    public function __construct(CData|self $parent, int $kind, array $texts, int $flags = 0)
    {
        $this->pointer = Library::get()->new('sealwax_machine *');
        $of = $parent instanceof self ? [null, $parent->pointer] : [$parent, null];
        $this->ask('machine_new', $of, [FFI::addr($this->pointer)], $kind, $texts, $flags);
    }

    public function __destruct()
    {
        Library::get()->sealwax_machine_free($this->pointer);
    }

    public function on(int $kind, array $texts, int $flags = 0): void
    {
        $this->ask('machine_on', [$this->pointer], [], $kind, $texts, $flags);
    }

    private function ask(string $function, array $of, array $made, int $kind, array $texts, int $flags): void
    {
        $lengths = array_map(fn($text) => is_string($text) ? strlen($text) : ($text === null ? -1 : -2), $texts);
        $frame = pack('CCvV*', $kind, count($texts), $flags, ...$lengths) . implode(array_filter($texts, is_string(...)));
        $types = ['uint8_t[' . strlen($frame) . ']', 'uint8_t *', 'size_t'];
        [$told, $answer, $size] = array_map(Library::get()->new(...), $types);
        FFI::memcpy($told, $frame, strlen($frame));
        Library::call($function, ...[...$of, $told, strlen($frame), ...$made, FFI::addr($answer), FFI::addr($size)]);
        $frame = FFI::string($answer, $size->cdata);
        [$this->kind, $count, $this->texts] = [ord($frame[0]), ord($frame[1]), []];
        $at = 4 + 4 * $count;
        foreach ($count ? unpack("V$count", $frame, 4) : [] as $length) {
            $absent = $length === 0xFFFFFFFF;
            $this->texts[] = $absent ? null : substr($frame, $at, $length);
            $at += $absent ? 0 : $length;
        }
    }
}

/** Who asks, as whoever authenticated the request knows it; `anonymous` is for servers without users. */
final class Principal
{
    public function __construct(
        public readonly ?string $subject = null,
        public readonly ?string $issuer = null,
        public readonly ?string $client = null,
        public readonly bool $anonymous = false,
    ) {
    }
}

/** A request as its handler sees it: without the client's token, in whose place are `state` and `cursor`. */
final class Request
{
    public function __construct(
        public readonly string $method,
        public readonly object $params,
        private ?string $kind,
        private ?string $opened,
        private Closure $seal,
    ) {
    }

    /** What was asked before; null in the first round. */
    public function state(): ?string
    {
        return $this->kind === 'request-state' ? $this->opened : throw new LogicException("$this->method has no requestState");
    }

    /** Where the page begins; null for the first. */
    public function cursor(): ?string
    {
        return $this->kind === 'cursor' ? $this->opened : throw new LogicException("$this->method has no cursor");
    }

    /** Returns the token of a state. Not needed: any other text in a result's `requestState` is sealed on its way out. */
    public function seal(mixed $state): string
    {
        return ($this->seal)(json_encode($state, JSON_THROW_ON_ERROR));
    }
}

final class Guard
{
    private Machine $machine;

    /**
     * @param CData $codec which may be freed once the guard is made
     * @param array{requestStateTtl?: int, only?: array<string, list<string>>} $settings as docs/engine.md says
     * @param ?Closure(object): void $log gets each refusal, whose `line` goes to PHP's log otherwise
     */
    public function __construct(CData $codec, array $settings = [], private ?Closure $log = null)
    {
        $other = array_diff_key($settings, ['requestStateTtl' => 0, 'only' => 0]);
        $other && throw new LogicException('this guard has requestStateTtl and only, not ' . implode(', ', array_keys($other)));
        $this->machine = new Machine($codec, Library::get()->SEALWAX_GUARD, [self::json((object) $settings)]);
        $this->log ??= fn(object $refused) => error_log($refused->line);
    }

    /** @param string $audience the public address of this service */
    public static function fromEnvironment(string $audience, array $settings = []): self
    {
        [$ring, $codec] = array_map(Library::get()->new(...), ['sealwax_ring *', 'sealwax_codec *']);
        try {
            Library::call('ring_from_env', FFI::addr($ring));
            Library::call('codec_new', $ring, $audience, strlen($audience), null, FFI::addr($codec));
            return new self($codec, $settings);
        } finally {
            Library::get()->sealwax_codec_free($codec);
            Library::get()->sealwax_ring_free($ring);
        }
    }

    /**
     * Returns the `result` or the `error` of a message.
     *
     * @param object $message JSON-RPC, decoded to objects: in PHP's arrays `{}` and `[]` are the same
     * @param Closure(Request): (object|array) $handler
     * @param Principal|Closure(): ?Principal $caller a function is called once at most, where it matters
     */
    public function serve(object $message, Closure $handler, Principal|Closure $caller, bool $modern = true): array
    {
        $c = Library::get();
        $request = isset($message->id);
        [$method, $params] = [$message->method, clone ($message->params ?? new stdClass())];
        $fields = $request ? self::fields($method) : null; // A notification carries no token, whatever its name.
        $asked = null;
        $who = function () use ($caller, &$asked): array {
            return $asked ??= self::asked($caller);
        };
        $token = $fields ? self::text($params, $fields->param) : null;
        $target = isset($fields->target) ? self::text($params, $fields->target) : null;
        $texts = [$method, $target, isset($params->arguments) ? json_encode($params->arguments) : null, $token];
        $flags = ($request ? 0 : $c->SEALWAX_FLAG_NOTIFICATION) | ($modern ? $c->SEALWAX_FLAG_MODERN : 0);
        if ($fields?->needsCaller && $who()[0] === $c->SEALWAX_PRINCIPAL) {
            [$texts, $flags] = [[...$texts, ...$who()[1]], $flags | $who()[2] | $c->SEALWAX_FLAG_CALLER];
        }
        $exchange = new Machine($this->machine, $c->SEALWAX_MESSAGE, $texts, $flags);
        $step = $this->step($exchange, $who);
        if ($step->step !== 'deliver') {
            return self::reply($step);
        }
        if ($fields) {
            unset($params->{$fields->param});
        }
        $open = WeakReference::create($exchange); // What a handler keeps is of no use once the request is answered.
        $seal = fn(string $state): string => $this->seal(
            $open->get() ?? throw new LogicException("$method has been answered"), $method, $target, $state);
        $result = (object) $handler(new Request($method, $params, $fields?->kind, $step->text, $seal));
        if (!$fields || !isset($result->{$fields->result})) {
            return ['result' => $result];
        }
        $told = array_map(fn($name) => self::text($result, $name), ['resultType', 'cacheScope', $fields->result]);
        $exchange->on($c->SEALWAX_RESULT, $told, isset($result->ttlMs) ? $c->SEALWAX_FLAG_TTL : 0);
        $step = $this->step($exchange, $who);
        if ($step->step !== 'respond') {
            return self::reply($step);
        }
        $result->{$fields->result} = $step->text ?? $result->{$fields->result};
        return ['result' => $result];
    }

    /** Tells who asks, if the engine wants to know it, and returns what is next. */
    private function step(Machine $exchange, Closure $who): object
    {
        $step = match ($exchange->kind) {
            Library::get()->SEALWAX_DELIVER => (object) ['step' => 'deliver', 'text' => $exchange->texts[0]],
            Library::get()->SEALWAX_RESPOND => (object) ['step' => 'respond', 'text' => $exchange->texts[0]],
            Library::get()->SEALWAX_STEP => json_decode($exchange->texts[0], flags: JSON_THROW_ON_ERROR),
        };
        array_map($this->log, $step->refused ?? []);
        if ($step->step !== 'ask') {
            return $step;
        }
        $exchange->on(...$who());
        return $this->step($exchange, $who);
    }

    /** Returns what is answered in place of the handler. Other steps belong to settings that this guard does not have. */
    private static function reply(object $step): array
    {
        return match ($step->step) {
            'reply' => isset($step->error) ? ['error' => $step->error] : ['result' => $step->tool ?? new stdClass()],
            'drop' => ['result' => new stdClass()], // of a notification, which has no answer
        };
    }

    private function seal(Machine $exchange, string $method, string|bool|null $target, string $state): string
    {
        try {
            $exchange->on(Library::get()->SEALWAX_SEAL_STATE, [$state]);
            return $exchange->texts[0];
        } catch (RuntimeException $failure) {
            $fault = ['code' => Library::get()->sealwax_code($failure->getCode()), 'kind' => 'request-state',
                'message' => $failure->getMessage(), 'method' => $method, 'target' => $target];
            $report = new Machine($this->machine, Library::get()->SEALWAX_REPORT, [self::json($fault)]);
            ($this->log)(json_decode($report->texts[0]));
            throw $failure;
        }
    }

    /** Returns the frame that tells who asks. */
    private static function asked(Principal|Closure $caller): array
    {
        try {
            $found = $caller instanceof Principal ? $caller : $caller();
            $told = ['null'];
        } catch (Throwable $failure) {
            [$found, $told] = [null, [null, $failure::class]];
        }
        return match (true) {
            $found === null => [Library::get()->SEALWAX_TOLD, $told, 0],
            $found->anonymous => [Library::get()->SEALWAX_PRINCIPAL, [], Library::get()->SEALWAX_FLAG_ANONYMOUS],
            default => [Library::get()->SEALWAX_PRINCIPAL, [$found->issuer, $found->client, $found->subject], 0],
        };
    }

    /** Returns which members of a method's messages carry a token. */
    private static function fields(string $method): ?object
    {
        $room = Library::get()->SEALWAX_TOKEN_FIELDS_MAX;
        [$json, $size] = array_map(Library::get()->new(...), ["char[$room]", 'size_t']);
        Library::call('token_fields', $method, strlen($method), $json, $room, FFI::addr($size));
        return json_decode(FFI::string($json, $size->cdata), flags: JSON_THROW_ON_ERROR);
    }

    private static function text(object $of, string $name): string|bool|null
    {
        return is_string($of->$name ?? null) ? $of->$name : (isset($of->$name) ? true : null);
    }

    private static function json(mixed $value): string
    {
        return json_encode($value, JSON_THROW_ON_ERROR);
    }
}
