package engine

import (
	"encoding/json"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/sealwaxtest"
)

// day is the traffic of one in simulated time.
type day struct {
	*testing.T
	clock    *sealwaxtest.Clock
	codec    *sealwax.Codec
	keys     []*sealwax.Key
	guard    *Guard
	ledger   *Memory
	fields   *TokenFields
	random   *rand.Rand
	sessions [32]*ClientSession
	seen     map[string]int
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (d *day) ask(x *Exchange, step *Step) *Step {
	d.Helper()
	for step.Name == "ledger" {
		reply := must(d.ledger.Run(NewCommand(step.Script, step.Keys, step.Args, 0), d.clock.Now().Unix()))
		step = must(x.Told(Answer(reply)))
	}
	return step
}

func (d *day) begun(x *Exchange, step *Step, err error) (*Exchange, *Step) {
	d.Helper()
	must(x, err)
	return x, d.ask(x, step)
}

func (d *day) begin(user int, token *string, session *ClientSession) (*Exchange, *Step) {
	d.Helper()
	subject, target := strconv.Itoa(user), "t"
	x, step := d.begun(d.guard.Request(&Request{
		Method: "tools/call", Target: &target, Fields: d.fields, Token: token, Caller: &Principal{Subject: &subject}, Modern: true,
		Session: session,
	}))
	code := "delivered"
	if len(step.Refused) > 0 {
		code = step.Refused[0].Code
	}
	d.seen[code]++
	return x, step
}

func (d *day) end(x *Exchange, kind string, token *string) *Step {
	d.Helper()
	step := d.ask(x, must(x.Result(Facts{ResultType: &kind, Token: token})))
	if step.Step != "respond" {
		d.Fatalf("expected a response, found %+v", step)
	}
	x.Free()
	return step
}

// twoRounds returns a token that was used.
func (d *day) twoRounds(user int) string {
	x, _ := d.begin(user, nil, nil)
	token := must(x.SealState([]byte(`{"page":2}`)))
	d.end(x, "input_required", &token)
	x, step := d.begin(user, &token, nil)
	if step.Opened == nil || *step.Opened != `{"page":2}` {
		d.Fatalf("expected the state, found %+v", step)
	}
	d.end(x, "complete", nil)
	x, step = d.begin(user, &token, nil)
	if step.Step != "reply" {
		d.Fatalf("expected a refusal, found %+v", step)
	}
	x.Free()
	return token
}

func newDay(t *testing.T) *day {
	idle := uint64(1800)
	d := &day{T: t, clock: sealwaxtest.NewClock(time.Unix(1_800_000_000, 0)), random: rand.New(rand.NewSource(7)), seen: map[string]int{}}
	d.keys = []*sealwax.Key{must(sealwax.GenerateKey())}
	ring := must(sealwax.NewKeyRing(d.keys...))
	d.codec = sealwaxtest.NewCodecOf(t, d.clock, ring, "a", sealwax.WithSessionMaxAge(2*time.Hour))
	d.guard = must(NewGuard(d.codec, Settings{Sessions: &Sessions{TTL: &idle}, Ledger: &Ledger{Local: true}}))
	d.ledger = must(NewMemory(8<<20, d.clock.Now().Unix()))
	d.fields = must(TokenFieldsOf("tools/call"))
	return d
}

func (d *day) session(at int) {
	if d.sessions[at] == nil {
		view := must(d.codec.View(sealwax.Subject(strconv.Itoa(at))))
		made := must(view.Sessions(sealwax.TTL(30 * time.Minute)).Create([]byte("0")))
		d.sessions[at] = &ClientSession{ID: made.SessionID, State: made.State}
	}
	x, step := d.begin(at, nil, d.sessions[at])
	if step.Step == "reply" {
		x.Free()
		d.sessions[at] = nil
		return
	}
	if err := x.Write([]byte(`{"count":1}`)); err != nil {
		d.Fatal(err)
	}
	metadata, _ := d.end(x, "complete", nil).Set[0].Value.(map[string]any)
	d.sessions[at] = &ClientSession{ID: metadata["sessionId"], State: metadata["state"]}
}

func (d *day) passAnHour() {
	d.keys = append([]*sealwax.Key{must(sealwax.GenerateKey())}, d.keys[0])
	if changed, err := d.codec.SetKeys(must(sealwax.NewKeyRing(d.keys...))); err != nil || !changed {
		d.Fatal(changed, err)
	}
	user, retain := strconv.Itoa(d.random.Intn(100)), uint64(3600)
	x, step := d.begun(d.guard.Revoke(&Principal{Subject: &user}, &retain))
	if step.Step != "done" {
		d.Fatalf("expected it done, found %+v", step)
	}
	x.Free()
}

// Users call a tool in two rounds, sessions go on, idle and expire, keys rotate each hour, and users are signed out: in the
// evening the memory is that of the morning. SEALWAX_EXCHANGES=1000000 takes some minutes.
func TestMemoryIsFlatOverADay(t *testing.T) {
	count := 4000
	if testing.Short() {
		count = 960
	}
	if wanted, err := strconv.Atoi(os.Getenv("SEALWAX_EXCHANGES")); err == nil {
		count = wanted
	}
	d := newDay(t)
	heaps, modules := make([]uint64, 24), make([]uint64, 24)
	for hour := range heaps {
		for range count / 24 {
			d.clock.Advance(time.Hour / time.Duration(count/24))
			d.twoRounds(d.random.Intn(100))
			d.session(d.random.Intn(len(d.sessions)))
		}
		d.passAnHour()
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		heaps[hour], modules[hour] = memory.HeapAlloc, host.MemorySize()
	}
	for name, found := range map[string][]uint64{"Go's heap, with the modules": heaps, "the modules' memories": modules} {
		morning, evening := found[4], found[20]
		for hour := 4; hour < 10; hour++ {
			morning = max(morning, found[hour])
		}
		for hour := 20; hour < 24; hour++ {
			evening = max(evening, found[hour])
		}
		t.Logf("%s: %d kB in the morning, %d kB in the evening", name, morning>>10, evening>>10)
		if evening > morning+morning/10+256<<10 {
			t.Errorf("%s: %d", name, found)
		}
	}
	told, _ := json.Marshal(d.seen)
	t.Logf("%s", told)
	if d.seen["used"] < count/24*24 || d.seen["expired"]+d.seen["unknown_key"] < 10 {
		t.Errorf("expected other traffic, found %s", told)
	}
}

// A fault ends the instance in which a ledger lives, and with it what the ledger knows: nothing that was used may be used again,
// in the same second neither.
func TestALedgerThatEndedAcceptsNothingOfBefore(t *testing.T) {
	d := newDay(t)
	d.clock.Advance(time.Hour)
	token := d.twoRounds(7)
	if err := d.ledger.owned.Do(func(*host.Call, host.Ptr) error { panic("a fault") }); err == nil {
		t.Fatal("expected an error")
	}
	command := NewCommand("open", []string{"swl1:{a}:began", "swl1:{a}:fence"}, nil, 0)
	if _, err := d.ledger.Run(command, d.clock.Now().Unix()); err == nil {
		t.Fatal("expected that its end is told")
	}
	for range 3 {
		if _, step := d.begin(7, &token, nil); step.Step != "reply" {
			t.Errorf("expected a refusal, found %+v", step)
		}
		d.clock.Advance(time.Second)
	}
	d.clock.Advance(time.Minute)
	d.twoRounds(7)
}
