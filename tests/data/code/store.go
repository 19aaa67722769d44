// Package ledger keeps accounts in memory.
package ledger

import (
	"errors"
	"fmt"
	"sync"
)

// ErrFunds is returned when an account holds less than is asked for.
var ErrFunds = errors.New("not enough funds")

// Account is one row of the ledger.
type Account struct {
	ID      string
	Balance int64
	history []Entry
}

// Entry is one movement.
type Entry struct {
	From, To string
	Amount   int64
}

// Ledger guards the accounts.
type Ledger struct {
	mu       sync.Mutex
	accounts map[string]*Account
}

// New makes an empty ledger.
func New() *Ledger {
	return &Ledger{accounts: map[string]*Account{}}
}

// Open adds an account and says whether it is new.
func (l *Ledger) Open(id string, balance int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.accounts[id]; known {
		return false
	}
	l.accounts[id] = &Account{ID: id, Balance: balance}
	return true
}

// Move takes an amount from one account and adds it to another.
func (l *Ledger) Move(from, to string, amount int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	source, ok := l.accounts[from]
	if !ok {
		return fmt.Errorf("no account %q", from)
	}
	target, ok := l.accounts[to]
	if !ok {
		return fmt.Errorf("no account %q", to)
	}
	if source.Balance < amount {
		return ErrFunds
	}
	source.Balance -= amount
	target.Balance += amount
	entry := Entry{From: from, To: to, Amount: amount}
	source.history = append(source.history, entry)
	target.history = append(target.history, entry)
	return nil
}

// Each calls a function for every account; it may not change the ledger.
func (l *Ledger) Each(visit func(Account)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, account := range l.accounts {
		visit(*account)
	}
}
