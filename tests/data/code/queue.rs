//! A queue that forgets what is too old.
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What a message is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Topic {
    Order,
    Payment { amount: u64, currency: String },
    Other(String),
}

/// One message and when it came.
#[derive(Debug)]
pub struct Message {
    pub topic: Topic,
    pub body: String,
    arrived: Instant,
}

pub trait Sink {
    fn accept(&mut self, message: Message) -> Result<(), String>;

    fn accept_all(&mut self, messages: Vec<Message>) -> Result<usize, String> {
        let mut taken = 0;
        for message in messages {
            self.accept(message)?;
            taken += 1;
        }
        Ok(taken)
    }
}

pub struct Queue {
    waiting: VecDeque<Message>,
    longest: Duration,
}

impl Queue {
    /// An empty queue.
    pub fn new(longest: Duration) -> Self {
        Queue {
            waiting: VecDeque::new(),
            longest,
        }
    }

    /// Drops what has waited too long and says how many were dropped.
    pub fn expire(&mut self, now: Instant) -> usize {
        let before = self.waiting.len();
        let longest = self.longest;
        self.waiting
            .retain(|message| now.duration_since(message.arrived) <= longest);
        before - self.waiting.len()
    }

    pub fn next(&mut self) -> Option<Message> {
        let message = self.waiting.pop_front()?;
        if message.body.is_empty() {
            return self.next();
        }
        Some(message)
    }
}

impl Sink for Queue {
    fn accept(&mut self, message: Message) -> Result<(), String> {
        if message.body.len() > 1024 {
            return Err(format!("{} bytes are too many", message.body.len()));
        }
        self.waiting.push_back(message);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_queue_has_nothing() {
        let mut queue = Queue::new(Duration::from_secs(1));
        assert!(queue.next().is_none());
    }
}
