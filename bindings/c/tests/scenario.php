<?php

// The scenario server of examples/php/Guard.php for tests/driver, which says what a server is told, and says. Nothing in PHP
// stands between the driver and the guard, so it is a direct one.

declare(strict_types=1);

require __DIR__ . '/../../../examples/php/Guard.php';

use Sealwax\{Guard, Library, Principal, Request};

final class Scenario
{
    private Guard $guard;
    private bool $anonymous;
    private ?FFI\CData $clock = null;
    private mixed $who = null;
    private int $handlers = 0;

    /** Does what it is told until the end, or until the handler that waits is told how it ends. */
    public function listen(?int $waiting = null, ?Request $request = null): ?object
    {
        while (($line = fgets(STDIN)) !== false) {
            $told = json_decode($line, flags: JSON_THROW_ON_ERROR);
            if ($waiting !== null && ($told->to ?? null) === $waiting && in_array($told->do, ['return', 'throw'], true)) {
                return $told->do === 'return' ? $told->result : throw new RuntimeException('as it was told');
            }
            match ($told->do) {
                'serve' => $this->say('done', $this->serve($told)),
                'at' => $this->say('done', $this->at($told)),
                'send' => $this->say('answer', $this->send($told)),
                'settle' => $this->say('done', true),
                'state' => $this->say('done', self::state($request)),
            };
        }
        return null;
    }

    public function say(string $name, mixed $value): void
    {
        fwrite(STDOUT, json_encode([$name => $value], JSON_THROW_ON_ERROR) . "\n");
    }

    private function serve(object $told): bool
    {
        $ffi = Library::get();
        $this->clock = $ffi->new('sealwax_test_clock *');
        [$ring, $codec] = [$ffi->new('sealwax_ring *'), $ffi->new('sealwax_codec *')];
        Library::call('test_clock_new', $told->now * 1000, FFI::addr($this->clock));
        Library::call('ring_parse', $told->keys, strlen($told->keys), FFI::addr($ring));
        $of = [$ring, $told->audience, strlen($told->audience), null, $this->clock];
        Library::call('test_codec_new', ...$of, ...[FFI::addr($codec)]);
        $this->anonymous = $told->anonymous;
        $log = fn(object $refused) => $this->say('reported', ['code' => $refused->code, 'kind' => $refused->kind]);
        $this->guard = new Guard($codec, (array) $told->settings, $log);
        return true;
    }

    private function at(object $told): bool
    {
        Library::call('test_clock_set', $this->clock, $told->now * 1000);
        $this->who = $told->who;
        return true;
    }

    private function send(object $told): ?array
    {
        $message = $told->message;
        $request = isset($message->id);
        // It takes a notification of its own, and no other.
        $handler = $request || $message->method === 'notifications/demo' ? $this->handle(...) : fn() => [];
        $answer = $this->guard->serve($message, $handler, $this->caller(), $told->modern);
        return $request ? $answer : null;
    }

    private function caller(): Principal|Closure
    {
        return $this->anonymous ? new Principal(anonymous: true) : function (): ?Principal {
            $this->say('asked', 'principal');
            return match ($this->who) {
                null => null,
                'thrower' => throw new RuntimeException('as it was told'),
                default => new Principal($this->who->subject, $this->who->issuer, $this->who->client),
            };
        };
    }

    private function handle(Request $request): mixed
    {
        $id = ++$this->handlers;
        $seen = ['id' => $id];
        foreach (['state', 'cursor'] as $name) {
            try {
                $seen[$name] = $request->$name();
            } catch (LogicException) {
            }
        }
        $this->say('handler', $seen);
        return self::sealed($this->listen($id, $request), $request);
    }

    private static function state(Request $request): mixed
    {
        try {
            return $request->state();
        } catch (LogicException) {
            return ['error' => 'invalid_argument'];
        }
    }

    /** Puts what an author gets for a state in its places. */
    private static function sealed(mixed $value, Request $request): mixed
    {
        if (is_object($value) && isset($value->{'$state'})) {
            return $request->seal($value->{'$state'});
        }
        if (is_array($value)) {
            return array_map(fn($one) => self::sealed($one, $request), $value);
        }
        foreach (is_object($value) ? $value : [] as $name => $member) {
            $value->$name = self::sealed($member, $request);
        }
        return $value;
    }
}

$scenario = new Scenario();
$has = ['requestStateTtl', 'only', 'request', 'state', 'return', 'throw'];
fwrite(STDOUT, json_encode(['direct' => true, 'systems' => ['php'], 'has' => $has]) . "\n");
$scenario->listen();
