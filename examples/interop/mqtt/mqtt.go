// Package mqtt publishes and gets messages with the machine of specs/library/mqtt. It connects again when a
// connection ends, and the session goes on: what that means is in the specification. Start from [Dial].
package mqtt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-go/parley/machines/mqtt"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// Client is one client of a broker. Its methods may be called by any goroutine.
type Client struct {
	d        *driver.Driver[*mqtt.ClientRunner]
	address  string
	id       mqtt.ClientId
	ctx      context.Context
	stop     context.CancelFunc
	sessions int // connections in which the broker knew the session; guarded by mu

	mu        sync.Mutex
	online    chan struct{} // closed while there is a connection
	published chan struct{}
	granted   chan mqtt.Granted
	failed    chan error
}

// keepAlive is how many seconds may pass between two signs of life.
const keepAlive = 30

// Dial connects to a broker, again and again, until ctx ends or the broker rejects the client. It returns
// at once. arrived is called for each message, one at a time, and must not wait.
func Dial(ctx context.Context, address, id string, arrived func(topic, message string)) (*Client, error) {
	name, ok := mqtt.NewClientId(id)
	if !ok {
		return nil, fmt.Errorf("the identifier %q is too long", id)
	}
	ctx, stop := context.WithCancel(ctx)
	c := &Client{address: address, id: name, ctx: ctx, stop: stop, online: make(chan struct{}),
		published: make(chan struct{}, 1), granted: make(chan mqtt.Granted, 1), failed: make(chan error, 1)}
	h := &mqtt.ClientHandlers{
		Connected: func(r mqtt.ClientConnectedReport) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if r.Session {
				c.sessions++
			}
			close(c.online)
		},
		Rejected:   func(r mqtt.ClientRejectedReport) { c.fail(fmt.Errorf("the broker says: %v", r.Code)) },
		Published:  func() { c.published <- struct{}{} },
		Subscribed: func(r mqtt.ClientSubscribedReport) { c.granted <- r.Code },
		Arrived: func(r mqtt.ClientArrivedReport) {
			arrived(r.Topic.String(), r.Message.String())
		},
	}
	c.d = driver.New(mqtt.NewClientRunner(), driver.Options[*mqtt.ClientRunner]{
		OnReport: h.OnReport,
		OnLink: func(_ *mqtt.ClientRunner, _ fsm.Peer, up bool, _ error) {
			if up {
				c.d.Post(func(r *mqtt.ClientRunner) fsm.Result { return r.Connect(c.id, false, keepAlive) })
				return
			}
			c.mu.Lock()
			select {
			case <-c.online:
				c.online = make(chan struct{})
			default: // it had not come so far
			}
			c.mu.Unlock()
			go c.connect()
		},
	})
	go c.d.Run(ctx)
	go c.connect()
	return c, nil
}

// connect makes the next connection.
func (c *Client) connect() {
	link, err := tcp.Dial(c.ctx, "tcp", c.address, tcp.Config{Attempts: -1, Pause: 20 * time.Millisecond})
	if err == nil {
		err = c.d.Attach(0, link)
	}
	if err != nil && c.ctx.Err() == nil {
		c.fail(err)
	}
}

func (c *Client) fail(err error) {
	select {
	case c.failed <- err:
	default: // the first one counts
	}
	c.stop()
}

// Publish returns when the message has arrived as far as its QoS can tell, however many connections that
// takes. One message is published at a time.
func (c *Client) Publish(topic, message string, qos mqtt.Qos) error {
	name, ok := mqtt.NewName(topic)
	text, fits := mqtt.NewPayload(message)
	if !ok || !fits {
		return errors.New("the topic or the message is too long")
	}
	if err := c.give(func(r *mqtt.ClientRunner) fsm.Result { return r.Publish(name, text, qos, false) }); err != nil {
		return err
	}
	_, err := await(c, c.published)
	return err
}

// Subscribe asks for the messages of a topic and returns the QoS that the broker grants.
func (c *Client) Subscribe(topic string, qos mqtt.Qos) (mqtt.Granted, error) {
	name, ok := mqtt.NewName(topic)
	if !ok {
		return 0, errors.New("the topic is too long")
	}
	if err := c.give(func(r *mqtt.ClientRunner) fsm.Result { return r.Subscribe(name, qos) }); err != nil {
		return 0, err
	}
	return await(c, c.granted)
}

// give gives a command as soon as there is a connection.
func (c *Client) give(f func(*mqtt.ClientRunner) fsm.Result) error {
	for {
		c.mu.Lock()
		online := c.online
		c.mu.Unlock()
		if _, err := await(c, online); err != nil {
			return err
		}
		if _, err := c.d.Do(c.ctx, f); err == nil {
			return nil
		} else if refused := (*driver.Error)(nil); !errors.As(err, &refused) {
			return err
		}
		// The connection has ended meanwhile, and nobody has told us yet.
		time.Sleep(time.Millisecond)
	}
}

// await waits for something of a client.
func await[T any](c *Client, from chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	case <-c.ctx.Done():
	}
	select {
	case err = <-c.failed:
	default:
		err = c.ctx.Err()
	}
	return v, err
}

// Sessions returns how often a connection has gone on with the session of the one before.
func (c *Client) Sessions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions
}

// Close ends the client. The broker keeps the session.
func (c *Client) Close() {
	c.d.Do(c.ctx, (*mqtt.ClientRunner).Disconnect) // refused while there is no connection
	c.stop()
	<-c.d.Done()
}
